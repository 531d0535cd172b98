import { useState } from 'preact/hooks';
import { isSearch, useLab } from '../lab';
import { Eq } from '../parts/math';
import { Scroll } from '../parts/scroll';
import { asking, count, percent, shown } from '../parts/symbols';
import { Prose } from '../parts/term';
import type { Model } from '../types';
import type { Words } from '../words';

type Part = keyof Words['architecture']['parts'];

interface Described {
    tensors: string[]; // beginnings of their names in the model file
    tex: (model: Model) => string[];
    code: string[];
}

const gru = (m: Model, h: string, before: string, input: string, context: string) => [
    `z = \\sigma(W_z ${input} + U_z ${before}${context.replace('C', 'C_z')})`,
    `r = \\sigma(W_r ${input} + U_r ${before}${context.replace('C', 'C_r')})`,
    m.reset === 'after'
        ? `\\til{h} = \\tanh(W ${input} + r \\circ (U ${before})${context} + b)`
        : `\\til{h} = \\tanh(W ${input} + U (r \\circ ${before})${context} + b)`,
    `${h} = (1 - z) \\circ ${before} + z \\circ \\til{h}`,
];

const lookFirst = (model: Model) => model.decoder_order === 'look-first';

function firstState(m: Model): string {
    if (!m.attention) return 's_0 = \\tanh(W_s c + b)';
    return m.decoder_start === 'mean'
        ? 's_0 = \\tanh(W_s \\frac{1}{S} \\sum_{j} h_j + b)'
        : 's_0 = \\tanh(W_s \\bw{h}_1 + b)';
}

// What the decoder's units make of the state before.
function newState(m: Model): string[] {
    const c = m.attention ? 'c_i' : 'c';
    return m.decoder_order === 'conditional'
        ? [...gru(m, 's′_i', 's_{i-1}', 'E y_{i-1}', ''), ...gru(m, 's_i', 's′_i', c, '')]
        : gru(m, 's_i', 's_{i-1}', lookFirst(m) ? 'E y_i' : 'E y_{i-1}', ` + C ${c}`);
}

const described: Record<Part, Described> = {
    embedding: { tensors: ['source.'], tex: () => ['E x_j = \\text{row }x_j + b'], code: ['src/op/embed.c'] },
    forward: {
        tensors: ['encoder.forward.'],
        tex: (m) => gru(m, '\\fw{h}_j', '\\fw{h}_{j-1}', 'E x_j', ''),
        code: ['src/model/rnnsearch.c', 'src/layer/gru_cell.c', 'src/op/gru.c'],
    },
    backward: {
        tensors: ['encoder.backward.'],
        tex: (m) => gru(m, '\\bw{h}_j', '\\bw{h}_{j+1}', 'E x_j', ''),
        code: ['src/model/rnnsearch.c', 'src/layer/gru_cell.c', 'src/op/gru.c'],
    },
    annotations: {
        tensors: [],
        tex: (m) => [m.attention ? 'h_j = [\\fw{h}_j ; \\bw{h}_j]' : 'h_j = \\fw{h}_j'],
        code: ['src/model/rnnsearch.c'],
    },
    alignment: {
        tensors: ['attention.'],
        tex: (m) => [`e_{ij} = v_a^\\top \\tanh(W_a ${asking(m.decoder_order)} + U_a h_j)`],
        code: ['src/op/attention.c', 'src/op/attention_scores.c'],
    },
    softmax: {
        tensors: [],
        tex: () => ['\\alpha_{ij} = \\frac{\\exp(e_{ij})}{\\sum_{k} \\exp(e_{ik})}'],
        code: ['src/op/attention.c'],
    },
    context: {
        tensors: [],
        tex: (m) => [m.attention ? 'c_i = \\sum_{j} \\alpha_{ij} h_j' : 'c = \\fw{h}_S'],
        code: ['src/op/attention.c', 'src/op/attention_sums.c'],
    },
    decoder: {
        tensors: ['decoder.'],
        tex: (m) => [firstState(m), ...newState(m)],
        code: ['src/model/rnnsearch.c', 'src/layer/gru_cell.c'],
    },
    target: { tensors: ['target.'], tex: () => ['E y_i = \\text{row }y_i + b'], code: ['src/op/embed.c'] },
    readout: {
        tensors: ['readout.', 'output.'],
        tex: (m) => [
            `\\til{t}_i = U_o ${lookFirst(m) ? 's_{i-1}' : 's_i'} + V_o E y_{i-1} + C_o ${m.attention ? 'c_i' : 'c'} + b`,
            't_{i,k} = \\max(\\til{t}_{i,2k-1}, \\til{t}_{i,2k})',
            'p(y_i) = \\softmax(W_o t_i + b)',
        ],
        code: ['src/model/rnnsearch.c', 'src/op/pointwise.c', 'src/op/xent.c'],
    },
};

const withoutAttention: Part[] = ['embedding', 'forward', 'annotations', 'context', 'decoder', 'target', 'readout'];

function size(shape: number[]): number {
    return shape.reduce((a, b) => a * b, 1);
}

function Box(props: {
    part: Part;
    x: number;
    y: number;
    w: number;
    h: number;
    at: Part;
    pick: (part: Part) => void;
    label?: string;
}) {
    const { words } = useLab();
    const { part, x, y, w, h } = props;
    const name = words.architecture.parts[part].name;
    return (
        <g
            class={props.at === part ? 'box at' : 'box'}
            role="button"
            tabindex={0}
            aria-pressed={props.at === part}
            aria-label={name}
            data-box={part}
            onClick={() => props.pick(part)}
            onKeyDown={(e) => {
                if (e.key === 'Enter' || e.key === ' ') {
                    e.preventDefault();
                    props.pick(part);
                }
            }}
        >
            <rect x={x} y={y} width={w} height={h} rx="8" />
            <text x={x + w / 2} y={y + h / 2 + 5} text-anchor="middle" font-size="14">
                {props.label ?? name}
            </text>
        </g>
    );
}

function Diagram(props: { model: Model; symbols: string[]; at: Part; pick: (part: Part) => void }) {
    const { words } = useLab();
    const { at, pick, model } = props;
    const names = words.architecture.parts;
    const columns = [85, 185, 285, 385];
    const S = props.symbols.length;
    const inputs = S <= 4 ? props.symbols : [...props.symbols.slice(0, 2), '…', props.symbols[S - 1]];
    const arrow = (x1: number, y1: number, x2: number, y2: number) => (
        <line
            key={`${x1},${y1},${x2},${y2}`}
            class="arrow"
            x1={x1}
            y1={y1}
            x2={x2}
            y2={y2}
            marker-end="url(#arrow)"
        />
    );
    const attends = model.attention;
    const chain = (part: 'forward' | 'backward', y: number) => (
        <>
            {columns
                .slice(0, 3)
                .map((x, k) =>
                    part === 'forward'
                        ? arrow(x + 26, y + 18, columns[k + 1] - 30, y + 18)
                        : arrow(columns[k + 1] - 26, y + 18, x + 30, y + 18),
                )}
            <g
                class={at === part ? 'box at' : 'box'}
                role="button"
                tabindex={0}
                aria-pressed={at === part}
                aria-label={names[part].name}
                data-box={part}
                onClick={() => pick(part)}
                onKeyDown={(e) => {
                    if (e.key === 'Enter' || e.key === ' ') {
                        e.preventDefault();
                        pick(part);
                    }
                }}
            >
                {columns.map((x, k) => (
                    <g key={x}>
                        <rect x={x - 26} y={y} width="52" height="36" rx="18" />
                        <text x={x} y={y + 23} text-anchor="middle" font-size="14">
                            {`h${part === 'forward' ? '→' : '←'}`}
                            <tspan font-size="10" dy="4">
                                {k === 3 ? 'S' : k + 1}
                            </tspan>
                        </text>
                    </g>
                ))}
            </g>
        </>
    );
    return (
        <Scroll>
            <svg
                class="diagram"
                viewBox="0 0 760 580"
                direction="ltr"
                role="group"
                aria-label={words.architecture.title}
            >
                <defs>
                    <marker
                        id="arrow"
                        viewBox="0 0 8 8"
                        refX="7"
                        refY="4"
                        markerWidth="7"
                        markerHeight="7"
                        orient="auto-start-reverse"
                    >
                        <path d="M0 0L8 4L0 8z" />
                    </marker>
                </defs>
                {columns.map((x, k) => (
                    <text key={x} x={x} y="568" text-anchor="middle" font-size="15" class="plain">
                        {shown(inputs[k] ?? '')}
                    </text>
                ))}
                {columns.map((x) => arrow(x, 552, x, 538))}
                <Box part="embedding" x={40} y={500} w={390} h={36} at={at} pick={pick} />
                {columns.map((x) => arrow(x, 500, x, 482))}
                {chain('forward', 444)}
                {attends && columns.map((x) => arrow(x - 8, 444, x - 8, 420))}
                {attends && chain('backward', 382)}
                {columns.map((x) => arrow(x, attends ? 382 : 444, x, 352))}
                <Box part="annotations" x={40} y={314} w={390} h={36} at={at} pick={pick} />
                {attends && columns.map((x) => arrow(x, 314, x, 282))}
                {attends && <Box part="alignment" x={40} y={240} w={390} h={40} at={at} pick={pick} />}
                {attends && columns.map((x) => arrow(x, 240, x, 206))}
                {attends && <Box part="softmax" x={40} y={168} w={390} h={36} at={at} pick={pick} />}
                {attends && columns.map((x) => arrow(x, 168, 235 + (x - 235) * 0.25, 130))}
                {/* The annotations themselves go past the alignment model into the context. */}
                <path class="arrow" d="M430 332 H462 V110 H304" fill="none" marker-end="url(#arrow)" />
                <Box part="context" x={170} y={92} w={130} h={36} at={at} pick={pick} />
                <Box part="decoder" x={510} y={240} w={220} h={40} at={at} pick={pick} />
                {attends && <path class="arrow" d="M510 260 H434" fill="none" marker-end="url(#arrow)" />}
                {attends && (
                    <text x="486" y="253" text-anchor="middle" font-size="13" class="plain" font-style="italic">
                        s
                    </text>
                )}
                <path class="arrow" d="M730 250 h14 q8 0 8 10 t-8 10 h-11" fill="none" marker-end="url(#arrow)" />
                <path class="arrow" d="M300 102 H484 V200 H560 V237" fill="none" marker-end="url(#arrow)" />
                <Box part="target" x={510} y={330} w={220} h={36} at={at} pick={pick} />
                {arrow(620, 330, 620, 283)}
                {arrow(650, 240, 650, 131)}
                <Box part="readout" x={510} y={92} w={220} h={36} at={at} pick={pick} />
                <path class="arrow" d="M300 98 H507" fill="none" marker-end="url(#arrow)" />
                {arrow(620, 92, 620, 56)}
                <text x="620" y="44" text-anchor="middle" font-size="16" class="plain" font-style="italic">
                    p(y
                    <tspan font-size="11" dy="4">
                        i
                    </tspan>
                    <tspan dy="-4">)</tspan>
                </text>
                <text x="620" y="408" text-anchor="middle" font-size="15" class="plain" font-style="italic">
                    y
                    <tspan font-size="11" dy="4">
                        i−1
                    </tspan>
                </text>
                {arrow(620, 392, 620, 369)}
            </svg>
        </Scroll>
    );
}

export function Architecture() {
    const lab = useLab();
    const { words, model } = lab;
    const w = words.architecture;
    const [picked, pick] = useState<Part>('alignment');
    if (model === null) return null;
    const known = isSearch(model);
    const parts = (Object.keys(described) as Part[]).filter(
        (part) => model.attention || withoutAttention.includes(part),
    );
    const at = parts.includes(picked) ? picked : 'decoder';
    const tensorsOf = (part: Part): Model['tensors'] => {
        const own = model.tensors.filter((t) =>
            described[part].tensors.some((prefix) => t.name.startsWith(prefix)),
        );
        // With --tied-source both sides read one table.
        return part === 'embedding' && own.length === 0 ? tensorsOf('target') : own;
    };
    const tensors = known ? tensorsOf(at) : model.tensors;
    const sum = tensors.reduce((n, t) => n + size(t.shape), 0);
    const symbols = lab.hypotheses[lab.chosen]?.source_words ?? ['', '', '', '</s>'];
    return (
        <>
            <p>{known ? <Prose text={w.intro} /> : words.needsTrace(model.name)}</p>
            {known && <Diagram model={model} symbols={symbols} at={at} pick={pick} />}
            <section class="card" aria-live="polite">
                {known && (
                    <>
                        <h2>{w.parts[at].name}</h2>
                        <p>{w.parts[at].text}</p>
                        <Scroll class="equations column">
                            {described[at].tex(model).map((tex) => (
                                <Eq key={tex} block tex={tex} />
                            ))}
                        </Scroll>
                    </>
                )}
                {tensors.length === 0 ? (
                    <p class="hint">{w.noTensors}</p>
                ) : (
                    <>
                        <p class="figure">
                            <strong data-count={at}>{count(sum)}</strong> {w.parameters},{' '}
                            {percent(sum / model.parameters)} {w.share}
                        </p>
                        <Scroll>
                            <table>
                                <thead>
                                    <tr>
                                        <th scope="col">{w.tensor}</th>
                                        <th scope="col">{w.shape}</th>
                                        <th scope="col" class="number">
                                            {w.parameters}
                                        </th>
                                    </tr>
                                </thead>
                                <tbody>
                                    {tensors.map((t) => (
                                        <tr key={t.name}>
                                            <th scope="row">
                                                <code>{t.name}</code>
                                            </th>
                                            <td dir="ltr">{t.shape.join(' × ')}</td>
                                            <td class="number">{count(size(t.shape))}</td>
                                        </tr>
                                    ))}
                                </tbody>
                            </table>
                        </Scroll>
                    </>
                )}
                {known && (
                    <p class="hint">
                        {w.code}:{' '}
                        {described[at].code.map((c) => (
                            <code key={c}>{c} </code>
                        ))}
                    </p>
                )}
            </section>
            <p class="figure">{w.total(count(model.parameters))}</p>
            {known && model.decoder_order && <p class="hint">{words.orderNote[model.decoder_order]}</p>}
            {known && model.layer_norm && model.layer_norm !== 'none' && (
                <p class="hint">{words.normNote[model.layer_norm]}</p>
            )}
        </>
    );
}
