import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { ask, useApi } from '../api';
import { longExampleOf } from '../examples';
import { canTrace, useLab } from '../lab';
import { Chart, type Line } from '../parts/chart';
import { Failure, Shown } from '../parts/notice';
import { Player, usePlayer } from '../parts/player';
import { Scroll } from '../parts/scroll';
import { wordProbabilities } from '../parts/symbols';
import { Prose } from '../parts/term';
import { Tinted } from '../parts/tinted';
import type { Aligned, Model, Scored, Trace, Translated } from '../types';

// What of each source word reaches the translation: the gradients of all its words, as shares, the symbols of a word together.
function sharesOf(trace: Trace, words: number): number[] {
    const shares = new Array<number>(words).fill(0);
    for (const row of trace.source_gradient ?? [])
        row.forEach((g, k) => {
            const word = trace.source_word[k];
            if (word >= 0 && word < words) shares[word] += g;
        });
    const sum = shares.reduce((a, b) => a + b, 0);
    return sum > 0 ? shares.map((s) => s / sum) : shares;
}

const isWord = (word: string) => /[\p{L}\p{N}]/u.test(word);

// A source word is lost when no word of the translation looked at it with at least `answered`. Whatever is written looks
// somewhere, so words that the source hardly calls for count less (fully from a probability of `plausible` on), and an
// unknown word says nothing.
const answered = 0.15;
const plausible = 0.02;

function lookedAt(alignment: Aligned['alignments'][number], p: number[], j: number): number {
    const looks = alignment.weights.map((row, i) => {
        const word = alignment.target_words[i];
        if (word === '</s>' || word === '<unk>') return 0;
        return (row[j] ?? 0) * Math.min(1, (p[i] ?? 1) / plausible);
    });
    return Math.max(0, ...looks);
}

// One model on the sentence so far.
function Side(props: { title: string; model: Model; judge: Model; text: string }) {
    const { words } = useLab();
    const w = words.bottleneck;
    const translated = useApi<Translated>('/v1/translate', { model: props.model.name, text: props.text }, 150);
    const target = translated.waiting ? undefined : translated.data?.translations[0]?.hypotheses[0]?.text;
    const ready = target !== undefined && target !== '';
    const aligned = useApi<Aligned>(
        '/v1/align',
        ready ? { model: props.judge.name, source: props.text, target } : null,
    );
    const scored = useApi<Scored>(
        '/v1/score',
        ready ? { model: props.judge.name, source: props.text, target, word_scores: true } : null,
    );
    const trace = useApi<Trace>(
        '/v1/trace',
        ready && canTrace(props.model)
            ? { model: props.model.name, source: props.text, target, sensitivity: false }
            : null,
    );
    const alignment = aligned.data?.alignments[0];
    const source = alignment?.source_words.filter((word) => word !== '</s>') ?? [];
    const p = wordProbabilities(scored.data?.scores[0] ?? {}, alignment?.target_words.length ?? 0);
    const lost = source.map(
        (word, j) => alignment !== undefined && isWord(word) && lookedAt(alignment, p, j) < answered,
    );
    return (
        <section class="side" aria-label={props.title}>
            <h3>{props.title}</h3>
            <Shown answer={translated}>
                {(data) => (
                    <p class="said" dir="auto">
                        {data.translations[0]?.hypotheses[0]?.text}
                    </p>
                )}
            </Shown>
            {ready && aligned.error !== null && <Failure message={aligned.error} />}
            {ready && scored.error !== null && <Failure message={scored.error} />}
            {alignment && !scored.waiting && (
                <>
                    <p class="hint">{w.lostCount(lost.filter(Boolean).length, source.filter(isWord).length)}</p>
                    <Shown answer={trace}>
                        {(data) => (
                            <Tinted
                                label={w.reach}
                                words={source}
                                shares={sharesOf(data, source.length)}
                                marked={lost}
                                mark={w.lostMark}
                            />
                        )}
                    </Shown>
                </>
            )}
        </section>
    );
}

// BLEU by length from `softalign evaluate --json --by-length`.
function curveOf(model: Model, name: string): Line | null {
    const groups = model.evaluation?.find((s) => s.by_length !== undefined)?.by_length;
    return groups === undefined ? null : { name, points: groups.map((g) => [g.mean_words, g.score]) };
}

function Measured(props: { models: { model: Model; name: string }[]; sentence: string[] }) {
    const { words } = useLab();
    const w = words.bottleneck;
    const [lines, setLines] = useState<Line[]>([]);
    const [state, setState] = useState<'idle' | 'running' | string>('idle');
    const key = props.models.map((m) => m.model.name).join() + props.sentence.join(' ');
    useEffect(() => {
        setLines([]);
        setState('idle');
    }, [key]);
    const [round, setRound] = useState(0);
    useEffect(() => {
        if (round === 0) return;
        const stop = new AbortController();
        setState('running');
        const lengths: number[] = [];
        for (let n = 5; n <= props.sentence.length; n += 5) lengths.push(n);
        const measure = async () => {
            const found: Line[] = props.models.map((m) => ({ name: m.name, points: [] }));
            for (const n of lengths) {
                for (const [k, m] of props.models.entries()) {
                    const answer = await ask<Translated>(
                        '/v1/translate',
                        { model: m.model.name, text: props.sentence.slice(0, n).join(' ') },
                        stop.signal,
                    );
                    const best = answer.translations[0]?.hypotheses[0];
                    if (best) found[k] = { ...found[k], points: [...found[k].points, [n, best.normalized_score]] };
                }
                setLines([...found]);
            }
            setState('idle');
        };
        measure().catch((error) => {
            if (!stop.signal.aborted) setState(error instanceof Error ? error.message : String(error));
        });
        return () => stop.abort();
    }, [round]);
    useEffect(() => setRound(0), [key]);
    return (
        <>
            <h2>{w.measured}</h2>
            <p>{w.measuredNote}</p>
            <div class="tools">
                <button type="button" disabled={state === 'running'} onClick={() => setRound((r) => r + 1)}>
                    {state === 'running' ? words.waiting : w.measure}
                </button>
            </div>
            {state !== 'idle' && state !== 'running' && <Failure message={state} />}
            <Chart label={w.measured} x={w.length} y={words.translate.perWord} lines={lines} digits={3} />
        </>
    );
}

export function Bottleneck() {
    const lab = useLab();
    const { words, model } = lab;
    const w = words.bottleneck;
    const models = lab.models.data?.models ?? [];
    const on = model?.attention ? model : (models.find((m) => m.attention && canTrace(m)) ?? null);
    const off = model !== null && !model.attention ? model : (models.find((m) => !m.attention) ?? null);
    const [which, setWhich] = useState<'long' | 'own'>('long');
    const [show, setShow] = useState<'both' | 'on' | 'off'>('both');
    const sentence = useMemo(
        () =>
            (which === 'own' || model === null ? lab.source : longExampleOf(model))
                .trim()
                .split(/\s+/)
                .filter((x) => x !== '')
                .slice(0, 60),
        [which, model, which === 'own' ? lab.source : ''],
    );
    const player = usePlayer(Math.max(1, sentence.length), 2200);
    // Before the page can be touched again: later it would undo where the visitor went meanwhile.
    useLayoutEffect(() => player.go(Math.min(9, sentence.length - 1)), [sentence]);
    if (model === null) return null;
    const text = sentence.slice(0, player.at + 1).join(' ');
    const judge = on ?? model;
    const curves = [on && curveOf(on, w.withAttention), off && curveOf(off, w.withoutAttention)].filter(
        (c) => c !== null,
    ) as Line[];
    return (
        <>
            <p>
                <Prose text={w.intro} />
            </p>
            <div class="tools">
                <fieldset class="segments">
                    <legend>{w.growWhich}</legend>
                    {(['long', 'own'] as const).map((k) => (
                        <label key={k}>
                            <input type="radio" name="which" checked={which === k} onChange={() => setWhich(k)} />
                            <span>{w[k]}</span>
                        </label>
                    ))}
                </fieldset>
                <fieldset class="segments">
                    <legend>{w.attention}</legend>
                    {(['on', 'off', 'both'] as const).map((k) => (
                        <label key={k}>
                            <input type="radio" name="show" checked={show === k} onChange={() => setShow(k)} />
                            <span>{w[k]}</span>
                        </label>
                    ))}
                </fieldset>
            </div>
            <Player player={player} caption={w.length} />
            <p class="growing" dir="auto">
                {text}
                <span class="later" aria-hidden="true">
                    {' '}
                    {sentence.slice(player.at + 1, player.at + 4).join(' ')}
                    {player.at + 4 < sentence.length ? ' …' : ''}
                </span>
            </p>
            {text !== '' && (
                <div class="sides">
                    {show !== 'off' && on && <Side title={w.withAttention} model={on} judge={judge} text={text} />}
                    {show !== 'on' && off && (
                        <Side title={w.withoutAttention} model={off} judge={judge} text={text} />
                    )}
                    {show !== 'on' && off === null && (
                        <section class="side" aria-label={w.withoutAttention}>
                            <h3>{w.withoutAttention}</h3>
                            <p>{w.oneModel}</p>
                            <Scroll>
                                <pre>
                                    softalign train --preset rnnencdec --train corpus.en corpus.fr -o without{'\n'}
                                    softalign serve -m with/best.safetensors -m without/best.safetensors
                                </pre>
                            </Scroll>
                        </section>
                    )}
                </div>
            )}
            <p class="hint">{w.lost}</p>
            <p class="hint">
                <strong>{w.reach}.</strong> <Prose text={w.reachNote} />
            </p>
            <h2>{w.curve}</h2>
            {curves.length > 0 ? (
                <>
                    <p>{w.curveNote}</p>
                    <Chart label={w.curve} x={words.family.words} y="BLEU" lines={curves} zero digits={1} />
                </>
            ) : (
                <>
                    <p>{w.noCurve}</p>
                    <Scroll>
                        <pre>
                            softalign translate -m best.safetensors &lt; test.en &gt; test.out{'\n'}softalign
                            evaluate --json --by-length test.en test.fr &lt; test.out &gt; best.evaluation.json
                        </pre>
                    </Scroll>
                </>
            )}
            {on && (
                <Measured
                    models={[
                        { model: on, name: w.withAttention },
                        ...(off ? [{ model: off, name: w.withoutAttention }] : []),
                    ]}
                    sentence={sentence}
                />
            )}
        </>
    );
}
