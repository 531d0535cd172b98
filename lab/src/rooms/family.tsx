import { useEffect, useState } from 'preact/hooks';
import { ask } from '../api';
import { longExampleOf } from '../examples';
import { relatives, type Kin } from '../family';
import { useLab } from '../lab';
import { Chart } from '../parts/chart';
import { Failure } from '../parts/notice';
import { Scroll } from '../parts/scroll';
import { Sketch } from '../parts/sketch';
import { bytes, count, percent } from '../parts/symbols';
import type { Model, Translated } from '../types';

function kinOf(model: Model): Kin {
    const preset = model.preset === 'small' ? 'rnnsearch' : model.preset.replace(/-small$/, '');
    return relatives.some((r) => r.kin === preset) ? (preset as Kin) : 'rnnsearch';
}

interface Measure {
    source: number; // symbols, both with </s>
    target: number;
    ms: number;
}

interface Unknown {
    model: string;
    vocabulary: number;
    share: number;
}

// Translations of ever longer beginnings, one after the other, each by greedy search so that the work is S·T.
async function measure(
    model: Model,
    sentence: string[],
    signal: AbortSignal,
    each: (m: Measure) => void,
): Promise<void> {
    for (let n = 4; n <= sentence.length; n += 8) {
        const text = sentence.slice(0, n).join(' ');
        const body = {
            model: model.name,
            text,
            beam_size: 1,
            alignment: model.attention,
            align_subwords: true,
            word_scores: true,
        };
        let ms = Infinity;
        let answer: Translated | null = null;
        // The quicker of two: the first may wait for others.
        for (let round = 0; round < 2; round++) {
            const begin = performance.now();
            answer = await ask<Translated>('/v1/translate', body, signal);
            ms = Math.min(ms, answer.elapsed_ms ?? performance.now() - begin);
        }
        const h = answer?.translations[0]?.hypotheses[0];
        if (h) each({ source: h.source_words?.length ?? n + 1, target: h.symbols?.length ?? 0, ms });
    }
}

async function unknowns(models: Model[], texts: string[], signal: AbortSignal): Promise<Unknown[]> {
    const out: Unknown[] = [];
    for (const model of models.filter((m) => m.attention)) {
        const answer = await ask<Translated>(
            '/v1/translate',
            { model: model.name, text: texts, beam_size: 1, alignment: true, align_subwords: true },
            signal,
        );
        const symbols = answer.translations.flatMap((t) =>
            (t.hypotheses[0]?.source_words ?? []).filter((s) => s !== '</s>'),
        );
        const unknown = symbols.filter((s) => s === '<unk>').length;
        if (symbols.length > 0)
            out.push({ model: model.name, vocabulary: model.vocab_source, share: unknown / symbols.length });
    }
    return out;
}

function Limits(props: { model: Model; models: Model[] }) {
    const { words, source } = useLab();
    const w = words.family;
    const [found, setFound] = useState<Measure[]>([]);
    const [unknown, setUnknown] = useState<Unknown[]>([]);
    const [state, setState] = useState<'idle' | 'running' | string>('idle');
    const [round, setRound] = useState(0);
    useEffect(() => {
        setFound([]);
        setUnknown([]);
        setState('idle');
        setRound(0);
    }, [props.model.name]);
    useEffect(() => {
        if (round === 0) return;
        const stop = new AbortController();
        const long = longExampleOf(props.model);
        setState('running');
        setFound([]);
        const all = async () => {
            await measure(props.model, long.split(' '), stop.signal, (m) => setFound((f) => [...f, m]));
            setUnknown(
                await unknowns(
                    props.models,
                    [source.trim(), long].filter((t) => t !== ''),
                    stop.signal,
                ),
            );
            setState('idle');
        };
        all().catch((error) => {
            if (!stop.signal.aborted) setState(error instanceof Error ? error.message : String(error));
        });
        return () => stop.abort();
    }, [round]);
    const total = found.reduce((a, m) => ({ words: a.words + m.target, ms: a.ms + m.ms }), { words: 0, ms: 0 });
    const product = found.map((m): [number, number] => [m.source * m.target, m.ms]).sort((a, b) => a[0] - b[0]);
    const step = found.map((m): [number, number] => [m.source, m.ms / m.target]).sort((a, b) => a[0] - b[0]);
    return (
        <>
            <h2>{w.limits}</h2>
            <p>{w.limitsNote}</p>
            <div class="tools">
                <button type="button" disabled={state === 'running'} onClick={() => setRound((r) => r + 1)}>
                    {state === 'running' ? w.running : w.run}
                </button>
            </div>
            {state !== 'idle' && state !== 'running' && <Failure message={state} />}
            {found.length > 0 && (
                <>
                    <p class="figure">
                        {w.rowNames.speed}:{' '}
                        {w.perSecond(count(Math.round((1000 * total.words) / Math.max(total.ms, 0.001))))}
                    </p>
                    <h3>{w.timeProduct}</h3>
                    <p>{w.timeProductNote}</p>
                    <Chart
                        label={w.timeProduct}
                        x="S·T"
                        y={w.ms}
                        lines={[{ name: props.model.name, points: product }]}
                        zero
                        digits={1}
                    />
                    <h3>{w.timeStep}</h3>
                    <p>{w.timeStepNote}</p>
                    <Chart
                        label={w.timeStep}
                        x="S"
                        y={w.ms}
                        lines={[{ name: props.model.name, points: step }]}
                        zero
                        digits={2}
                    />
                </>
            )}
            {unknown.length > 0 && (
                <>
                    <h3>{w.unk}</h3>
                    <p>{w.unkNote}</p>
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">{words.model}</th>
                                <th scope="col" class="number">
                                    {w.rowNames.vocabulary}
                                </th>
                                <th scope="col" class="number">
                                    &lt;unk&gt;
                                </th>
                            </tr>
                        </thead>
                        <tbody>
                            {unknown.map((u) => (
                                <tr key={u.model}>
                                    <th scope="row">{u.model}</th>
                                    <td class="number">{count(u.vocabulary)}</td>
                                    <td class="number">{percent(u.share)}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </>
            )}
        </>
    );
}

// A size by its option's name, written with - or _.
function sizeOf(model: Model, name: string): string {
    const value = model.sizes[name] ?? model.sizes[name.replace(/-/g, '_')];
    return value === undefined || value === null ? '–' : String(value);
}

function trainingOf(model: Model): string {
    const t = model.training;
    if (!t) return '–';
    return (
        Object.entries(t)
            .filter(([, v]) => typeof v === 'number' || typeof v === 'string')
            .map(
                ([k, v]) =>
                    `${k.replace(/[-_]/g, ' ')}: ${typeof v === 'number' && Number.isInteger(v) ? count(v) : typeof v === 'number' ? v.toFixed(2) : v}`,
            )
            .join('; ') || '–'
    );
}

// The longest sentence that the model was trained on, in its symbols.
function contextOf(model: Model): string {
    const options = model.training?.options as Record<string, unknown> | undefined;
    const most = options?.max_length;
    return typeof most === 'number' ? String(most) : '–';
}

function DataSheet(props: { models: Model[] }) {
    const { words } = useLab();
    const w = words.family;
    const kin = new Set<Kin>(['rnnsearch', 'rnnencdec', 'gnmt', 'transformer']);
    const papers = relatives.filter((r) => kin.has(r.kin));
    const rows: [string, (m: Model) => string, (r: (typeof relatives)[number]) => string][] = [
        [
            w.rowNames.parameters,
            (m) => count(m.parameters),
            (r) => (r.parameters === null ? '–' : count(r.parameters)),
        ],
        [w.rowNames.vocabulary, (m) => `${count(m.vocab_source)}, ${count(m.vocab_target)}`, (r) => r.vocabulary],
        [w.rowNames.embedding, (m) => sizeOf(m, 'dim-emb'), (r) => r.embedding],
        [w.rowNames.state, (m) => sizeOf(m, 'dim-rnn'), (r) => r.state],
        [w.rowNames.attention, (m) => (m.attention ? w.yes : w.no), (r) => (r.attention ? w.yes : w.no)],
        [w.rowNames.order, (m) => m.decoder_order ?? '–', () => '–'],
        [w.rowNames.file, (m) => bytes(m.file_bytes), () => '–'],
        [w.rowNames.context, contextOf, (r) => r.context],
        [w.rowNames.training, trainingOf, () => '–'],
    ];
    return (
        <Scroll>
            <table class="sheet">
                <thead>
                    <tr>
                        <td />
                        {props.models.map((m) => (
                            <th key={m.name} scope="col" class="loaded">
                                {m.name} <small>{w.loaded}</small>
                            </th>
                        ))}
                        {papers.map((r) => (
                            <th key={r.kin} scope="col">
                                {r.title} <small>{w.paperSize}</small>
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.map(([name, ours, theirs]) => (
                        <tr key={name}>
                            <th scope="row">{name}</th>
                            {props.models.map((m) => (
                                <td key={m.name}>{ours(m)}</td>
                            ))}
                            {papers.map((r) => (
                                <td key={r.kin}>{theirs(r)}</td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </Scroll>
    );
}

export function Family() {
    const lab = useLab();
    const { words, model } = lab;
    const w = words.family;
    const models = lab.models.data?.models ?? [];
    const memory = lab.models.data?.memory_bytes;
    const [picked, pick] = useState<Kin | null>(null);
    if (model === null) return null;
    const at = picked ?? kinOf(model);
    const relative = relatives.find((r) => r.kin === at) ?? relatives[2];
    return (
        <>
            <p>{w.intro}</p>
            <ol class="timeline">
                {relatives.map((r) => (
                    <li key={r.kin}>
                        <button type="button" aria-pressed={r.kin === at} onClick={() => pick(r.kin)}>
                            <span class="year">{r.year}</span>
                            <span class="title">{r.title}</span>
                            {models.some((m) => kinOf(m) === r.kin) && <small>{w.loaded}</small>}
                        </button>
                    </li>
                ))}
            </ol>
            <section class="card" aria-live="polite">
                <h2>
                    {relative.title} <span class="figure">{relative.year}</span>
                </h2>
                <p class="hint">
                    {relative.authors}, arXiv:{relative.arxiv}
                </p>
                <p>{w.ideas[relative.kin]}</p>
                <Sketch kin={relative.kin} />
                <p class="figure">
                    {relative.parameters !== null &&
                        `${count(relative.parameters)} ${words.architecture.parameters} ${w.paperSize}; `}
                    {w.preset}: <code>--preset {relative.kin}</code>
                </p>
                {models
                    .filter((m) => kinOf(m) === relative.kin)
                    .map((m) => (
                        <p key={m.name} class="figure">
                            {m.name} ({w.loaded}): {count(m.parameters)} {words.architecture.parameters}
                        </p>
                    ))}
            </section>
            <h2>{w.sheet}</h2>
            <p>{w.sheetNote}</p>
            <DataSheet models={models} />
            {memory && <p class="figure">{w.memory(bytes(memory))}</p>}
            <Limits model={model} models={models} />
        </>
    );
}
