import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { canTrace, useLab, useTrace } from '../lab';
import { Eq } from '../parts/math';
import { Notice, Shown } from '../parts/notice';
import { Player, usePlayer } from '../parts/player';
import { Scroll } from '../parts/scroll';
import { Strip } from '../parts/strip';
import { shown } from '../parts/symbols';
import { Prose } from '../parts/term';
import { Tinted } from '../parts/tinted';
import type { Trace } from '../types';

function Reading(props: { trace: Trace }) {
    const { words } = useLab();
    const w = words.annotations;
    const { source_symbols: symbols, sensitivity } = props.trace;
    const forward = props.trace.annotations?.forward ?? props.trace.annotations?.values ?? [];
    const backward = props.trace.annotations?.backward;
    const S = symbols.length;
    const [picked, pick] = useState(0);
    // The forward reading, the backward one, and at last both joined.
    const moments = (backward ? 2 * S : S) + 1;
    const player = usePlayer(moments, 380);
    useLayoutEffect(() => player.go(moments - 1), [props.trace]);
    const now = player.at;
    const joined = now === moments - 1;
    const goingForward = now < S;
    const at = joined ? -1 : goingForward ? now : 2 * S - 1 - now;
    const scale = useMemo(
        () =>
            Math.max(
                ...forward.map((row) => Math.max(...row.map(Math.abs))),
                ...(backward ?? []).map((row) => Math.max(...row.map(Math.abs))),
            ),
        [props.trace],
    );
    const caption = joined
        ? w.joined
        : `${goingForward ? w.forward : w.backward}: ${w.reading(shown(symbols[at]))}`;
    const chosen = Math.min(picked, S - 1);
    return (
        <>
            <Scroll class="equations">
                <Eq
                    block
                    tex="\part{f}{\fw{h}_j = \text{GRU}(\fw{h}_{j-1}, E x_j)}"
                    lit={joined ? null : goingForward ? 'f' : null}
                />
                {backward && (
                    <Eq
                        block
                        tex="\part{b}{\bw{h}_j = \text{GRU}(\bw{h}_{j+1}, E x_j)}"
                        lit={!joined && !goingForward ? 'b' : null}
                    />
                )}
                <Eq
                    block
                    tex={backward ? '\\part{j}{h_j = [\\fw{h}_j ; \\bw{h}_j]}' : '\\part{j}{h_j = \\fw{h}_j}'}
                    lit={joined ? 'j' : null}
                />
            </Scroll>
            <Player player={player} caption={caption} />
            <div class={`strips${joined ? ' joined' : ''}${backward ? '' : ' single'}`}>
                <div class="strip-row head" aria-hidden="true">
                    <span />
                    <span>
                        <Eq tex="\fw{h}" /> {w.forward} ({forward[0]?.length})
                    </span>
                    {backward && (
                        <span>
                            <Eq tex="\bw{h}" /> {w.backward} ({backward[0]?.length})
                        </span>
                    )}
                </div>
                {symbols.map((symbol, j) => {
                    const read = j <= now;
                    const readBack = now >= S && j >= 2 * S - 1 - now;
                    return (
                        <div class={`strip-row${j === at ? ' at' : ''}`} key={j}>
                            <span class="name">
                                <bdi>{shown(symbol)}</bdi>
                            </span>
                            <span class={read ? 'written' : 'blank'}>
                                {read && (
                                    <Strip
                                        values={forward[j]}
                                        scale={scale}
                                        label={`${w.forward}: ${shown(symbol)}`}
                                    />
                                )}
                            </span>
                            {backward && (
                                <span class={readBack ? 'written' : 'blank'}>
                                    {readBack && (
                                        <Strip
                                            values={backward[j]}
                                            scale={scale}
                                            label={`${w.backward}: ${shown(symbol)}`}
                                        />
                                    )}
                                </span>
                            )}
                        </div>
                    );
                })}
            </div>
            {sensitivity && (
                <>
                    <h2>{w.listens(shown(symbols[chosen]))}</h2>
                    <p>
                        {w.pick} <Prose text={w.listensNote} />
                    </p>
                    <Tinted
                        label={w.strength}
                        words={symbols.map(shown)}
                        shares={sensitivity[chosen]}
                        at={chosen}
                        onPick={pick}
                    />
                </>
            )}
        </>
    );
}

export function Annotations() {
    const { words, model } = useLab();
    const trace = useTrace({ sensitivity: true });
    if (model === null) return null;
    if (!canTrace(model)) return <Notice>{words.needsTrace(model.name)}</Notice>;
    return (
        <>
            <p>
                <Prose text={words.annotations.intro} />
            </p>
            <Shown answer={trace}>
                {(data) =>
                    data.annotations ? <Reading trace={data} /> : <Notice>{words.needsTrace(model.name)}</Notice>
                }
            </Shown>
        </>
    );
}
