import { useState } from 'preact/hooks';
import { useLab } from '../lab';
import { Scroll } from '../parts/scroll';
import { Notice } from '../parts/notice';
import { decimal, percent, shown, wordProbabilities } from '../parts/symbols';
import { Prose } from '../parts/term';
import { isAligned, type AlignedHypothesis } from '../types';

type Side = 'source' | 'target';

// How strongly each word of the other side goes with the word pointed at: the weights of its row, or of its column.
function partners(h: AlignedHypothesis, side: Side, at: number): number[] {
    const weights = h.alignment;
    return side === 'target' ? (weights[at] ?? []) : h.words.map((_, i) => weights[i]?.[at] ?? 0);
}

function Words(props: { h: AlignedHypothesis }) {
    const { h } = props;
    const { words } = useLab();
    const [at, setAt] = useState<{ side: Side; index: number } | null>(null);
    const strength = at === null ? [] : partners(h, at.side, at.index);
    const sure = wordProbabilities(h, h.words.length);
    const most = Math.max(...strength, 1e-9);
    const line = (side: Side, list: string[]) => (
        <ul
            class={`wordline ${side}`}
            dir="auto"
            aria-label={side === 'source' ? words.sentence : words.translation}
        >
            {list.map((word, i) => {
                const lit = at !== null && at.side !== side ? strength[i] : null;
                const p = side === 'target' ? (sure[i] ?? null) : null;
                return (
                    <li key={i}>
                        <button
                            type="button"
                            class={at?.side === side && at.index === i ? 'word at' : 'word'}
                            data-side={side}
                            data-index={i}
                            onPointerEnter={() => setAt({ side, index: i })}
                            onFocus={() => setAt({ side, index: i })}
                            onPointerLeave={() => setAt(null)}
                            onBlur={() => setAt(null)}
                            title={p === null ? undefined : `${words.translate.probability}: ${percent(p)}`}
                        >
                            <span class="glow" style={{ opacity: lit === null ? 0 : lit / most }} />
                            <bdi>{shown(word)}</bdi>
                            {lit !== null && lit >= 0.05 && <span class="weight">{percent(lit)}</span>}
                            {p !== null && <span class="sure" style={{ width: `${100 * p}%` }} />}
                        </button>
                    </li>
                );
            })}
        </ul>
    );
    return (
        <div class="wordlines" role="group" aria-label={words.translate.wordsLabel}>
            {line('source', h.source_words)}
            {line('target', h.words)}
        </div>
    );
}

export function Translate() {
    const lab = useLab();
    const w = lab.words.translate;
    const [said, setSaid] = useState<{ about: 'copy' | 'share'; text: string } | null>(null);
    const h = lab.hypotheses[lab.chosen];
    const copy = async (about: 'copy' | 'share', text: string) => {
        try {
            await navigator.clipboard.writeText(text);
            setSaid({ about, text: w.copied });
        } catch {
            setSaid({ about, text: w.notCopied });
        }
        setTimeout(() => setSaid(null), 2500);
    };
    return (
        <>
            <p>
                <Prose text={w.intro} />
            </p>
            {isAligned(h) && <Words h={h} />}
            {lab.model !== null && !lab.model.attention && <Notice>{w.noWords(lab.model.name)}</Notice>}
            <div class="tools">
                {(['copy', 'share'] as const).map((about) => (
                    <button
                        type="button"
                        key={about}
                        disabled={h === undefined}
                        onClick={() => copy(about, about === 'copy' ? (h?.text ?? '') : address(lab.source))}
                    >
                        {said?.about === about ? said.text : w[about]}
                    </button>
                ))}
                <label class="range">
                    <span>{w.beam}</span>
                    <input
                        type="range"
                        min={1}
                        max={12}
                        value={lab.beam}
                        onInput={(e) => lab.setBeam(Number(e.currentTarget.value))}
                    />
                    <output>{lab.beam}</output>
                </label>
            </div>
            {lab.hypotheses.length > 0 && (
                <>
                    <h2>{w.hypotheses}</h2>
                    <p>
                        <Prose text={w.hypothesesNote(lab.beam)} />
                    </p>
                    <Scroll>
                        <table class="hypotheses">
                            <thead>
                                <tr>
                                    <th scope="col">{lab.words.translation}</th>
                                    <th scope="col" class="number">
                                        {w.score}
                                    </th>
                                    <th scope="col" class="number">
                                        {w.perWord}
                                    </th>
                                </tr>
                            </thead>
                            <tbody>
                                {lab.hypotheses.map((other, k) => (
                                    <tr key={k} class={k === lab.chosen ? 'chosen' : undefined}>
                                        <td dir="auto">
                                            <label>
                                                <input
                                                    type="radio"
                                                    name="hypothesis"
                                                    checked={k === lab.chosen}
                                                    onChange={() => lab.choose(k)}
                                                />
                                                <span>{other.text}</span>
                                            </label>
                                        </td>
                                        <td class="number">{decimal(other.score)}</td>
                                        <td class="number">{decimal(other.normalized_score)}</td>
                                    </tr>
                                ))}
                            </tbody>
                        </table>
                    </Scroll>
                </>
            )}
        </>
    );
}

// The address of this sentence, also when it is an example that nobody typed.
function address(source: string): string {
    const url = new URL(location.href);
    url.searchParams.set('q', source);
    return url.href;
}
