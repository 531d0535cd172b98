import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLab, useTrace } from '../lab';
import { Bars } from '../parts/bars';
import { Eq } from '../parts/math';
import { Shown } from '../parts/notice';
import { OneStep } from '../parts/one_step';
import { Scroll } from '../parts/scroll';
import { decimal, percent, shown } from '../parts/symbols';
import type { NextWord, Trace } from '../types';

const tall = 130;
const base = 150; // where bars stand
const depth = 330; // where the context lies

// One weight becomes `value`; the others keep their proportions and the sum stays 1.
export function withWeight(weights: number[], j: number, value: number): number[] {
    const rest = 1 - weights[j];
    return weights.map((a, k) => {
        if (k === j) return value;
        return rest > 1e-9 ? (a * (1 - value)) / rest : (1 - value) / (weights.length - 1);
    });
}

// Bars that can be dragged, and ribbons from each annotation into the context, as wide as its weight.
function Flow(props: { symbols: string[]; weights: number[]; onChange: (weights: number[]) => void }) {
    const { words } = useLab();
    const { symbols, weights } = props;
    const labels = symbols.map((symbol) => {
        const letters = [...shown(symbol)];
        return letters.length > 10 ? `${letters.slice(0, 9).join('')}…` : letters.join('');
    });
    const column = Math.max(40, ...labels.map((label) => [...label].length * 8 + 8));
    const svg = useRef<SVGSVGElement>(null);
    const [dragged, setDragged] = useState<number | null>(null);
    const width = Math.max(symbols.length * column, 220);
    const middle = width / 2;
    const set = (j: number, value: number) =>
        props.onChange(withWeight(weights, j, Math.max(0, Math.min(1, value))));
    const drag = (e: PointerEvent, j: number) => {
        const box = svg.current?.getBoundingClientRect();
        if (box) set(j, (base - (e.clientY - box.top)) / tall);
    };
    const key = (e: KeyboardEvent, j: number) => {
        const steps: Record<string, number> = {
            ArrowUp: 0.02,
            ArrowRight: 0.02,
            ArrowDown: -0.02,
            ArrowLeft: -0.02,
            PageUp: 0.1,
            PageDown: -0.1,
        };
        const target =
            e.key === 'Home' ? 0 : e.key === 'End' ? 1 : e.key in steps ? weights[j] + steps[e.key] : null;
        if (target === null) return;
        e.preventDefault();
        set(j, target);
    };
    const most = 56; // width of the ribbon of weight 1
    let before = 0;
    return (
        <figure class="flow">
            <Scroll>
                <svg
                    ref={svg}
                    width={width}
                    height={depth + 50}
                    viewBox={`0 0 ${width} ${depth + 50}`}
                    direction="ltr"
                    role="group"
                    aria-label={words.context.flow}
                >
                    {weights.map((a, j) => {
                        const x = (j + 0.5) * column;
                        const landing = middle - most / 2 + (before + a / 2) * most;
                        before += a;
                        return (
                            <path
                                key={j}
                                class="ribbon"
                                stroke-width={Math.max(a * most, 0.3)}
                                fill="none"
                                opacity={0.25 + 0.6 * Math.min(1, a * 1.5)}
                                d={`M${x} ${base + 40} C${x} ${base + 120}, ${landing} ${depth - 90}, ${landing} ${depth - 4}`}
                            />
                        );
                    })}
                    {weights.map((a, j) => {
                        const x = j * column + 7;
                        return (
                            <g
                                key={j}
                                class={dragged === j ? 'lever held' : 'lever'}
                                role="slider"
                                tabindex={0}
                                aria-label={words.context.weightOf(shown(symbols[j]))}
                                aria-orientation="vertical"
                                aria-valuemin={0}
                                aria-valuemax={100}
                                aria-valuenow={Math.round(100 * a)}
                                aria-valuetext={percent(a)}
                                onKeyDown={(e) => key(e, j)}
                                onPointerDown={(e) => {
                                    e.currentTarget.setPointerCapture(e.pointerId);
                                    setDragged(j);
                                    drag(e, j);
                                }}
                                onPointerMove={(e) => {
                                    if (dragged === j) drag(e, j);
                                }}
                                onPointerUp={() => setDragged(null)}
                                onPointerCancel={() => setDragged(null)}
                            >
                                <rect class="slot" x={x} y={base - tall} width={column - 14} height={tall} rx="4" />
                                <rect
                                    class="level"
                                    x={x}
                                    y={base - a * tall}
                                    width={column - 14}
                                    height={a * tall}
                                    rx="3"
                                />
                                <rect
                                    class="grip"
                                    x={x - 2}
                                    y={base - a * tall - 4}
                                    width={column - 10}
                                    height="8"
                                    rx="4"
                                />
                                <text
                                    x={x + (column - 14) / 2}
                                    y={base - tall - 6}
                                    text-anchor="middle"
                                    font-size="11"
                                >
                                    {percent(a)}
                                </text>
                                <text
                                    class="word"
                                    x={x + (column - 14) / 2}
                                    y={base + 22}
                                    text-anchor="middle"
                                    font-size="14"
                                >
                                    {labels[j]}
                                </text>
                            </g>
                        );
                    })}
                    <rect
                        class="context"
                        x={middle - most / 2 - 8}
                        y={depth - 4}
                        width={most + 16}
                        height="30"
                        rx="6"
                    />
                    <text
                        class="inside"
                        x={middle}
                        y={depth + 17}
                        text-anchor="middle"
                        font-size="16"
                        font-style="italic"
                    >
                        c
                    </text>
                </svg>
            </Scroll>
        </figure>
    );
}

// Both distributions over the words that either holds most likely.
function Next(props: { before: NextWord[]; after: NextWord[] | null }) {
    const { words } = useLab();
    const w = words.context;
    const { before, after } = props;
    const names = [...new Set([...(after ?? []), ...before].map((x) => x.symbol))];
    const p = (list: NextWord[], symbol: string) => list.find((x) => x.symbol === symbol)?.p;
    const most = Math.max(...before.map((x) => x.p), ...(after ?? []).map((x) => x.p), 1e-9);
    const moved =
        after === null ? 0 : Math.max(...names.map((n) => Math.abs((p(before, n) ?? 0) - (p(after, n) ?? 0))));
    names.sort(
        (a, b) =>
            Math.max(p(before, b) ?? 0, p(after ?? [], b) ?? 0) -
            Math.max(p(before, a) ?? 0, p(after ?? [], a) ?? 0),
    );
    const bar = (value: number | undefined, kind: string) => (
        <span class={`twin ${kind}`}>
            <span class="track">
                <span class="fill" style={{ width: `${(100 * (value ?? 0)) / most}%` }} />
            </span>
            <span class="number">{value === undefined ? '–' : percent(value)}</span>
        </span>
    );
    return (
        <>
            <h2>{w.next}</h2>
            <p class="keys">
                <span class="key own">{w.original}</span>
                {after !== null && <span class="key other">{w.changed}</span>}
            </p>
            <ol class="twins" aria-label={w.next}>
                {names.slice(0, 12).map((name) => (
                    <li key={name} data-next={name}>
                        <span class="name">
                            <bdi>{shown(name)}</bdi>
                        </span>
                        <span>
                            {bar(p(before, name), 'own')}
                            {after !== null && bar(p(after, name), 'other')}
                        </span>
                    </li>
                ))}
            </ol>
            {after !== null && <p class="hint">{w.moved(percent(moved))}</p>}
        </>
    );
}

function Elsewhere(props: { plain: Trace }) {
    const lab = useLab();
    const w = lab.words.context;
    const { plain } = props;
    const own = plain.step?.weights ?? [];
    const [weights, setWeights] = useState<number[] | null>(null);
    useLayoutEffect(() => setWeights(null), [plain]);
    const changed = useTrace(
        weights === null
            ? { step: lab.symbol }
            : { step: lab.symbol, weights: weights.map((a) => Number(a.toFixed(6))) },
        120,
    );
    const after = weights !== null && changed.data?.step?.next_original ? changed.data.step : null;
    const shownWeights = weights ?? own;
    const strongest = shownWeights.indexOf(Math.max(...shownWeights));
    return (
        <>
            <Scroll class="equations">
                <Eq block tex="c_i = \sum_{j=1}^{S} \alpha_{ij} h_j" />
            </Scroll>
            <Flow symbols={plain.source_symbols} weights={shownWeights} onChange={setWeights} />
            <p class="hint">{w.normalised}</p>
            <div class="tools">
                <button type="button" disabled={weights === null} onClick={() => setWeights(null)}>
                    {w.reset}
                </button>
                <button type="button" onClick={() => setWeights(own.map(() => 1 / own.length))}>
                    {w.uniform}
                </button>
                <button type="button" onClick={() => setWeights(own.map((_, j) => (j === strongest ? 1 : 0)))}>
                    {w.only(shown(plain.source_symbols[strongest] ?? ''))}
                </button>
            </div>
            <Shown answer={changed}>
                {() => <Next before={after?.next_original ?? plain.step?.next ?? []} after={after?.next ?? null} />}
            </Shown>
            <h2>
                <Eq tex="c_i" /> <span class="figure">({plain.step?.context?.length})</span>
            </h2>
            <Bars
                values={(after ?? plain.step)?.context ?? []}
                label={`c: ${decimal((after ?? plain.step)?.context?.[0] ?? 0)}…`}
            />
            <p class="hint">{lab.words.orderNote[plain.decoder_order]}</p>
        </>
    );
}

export function Context() {
    const { words } = useLab();
    return (
        <OneStep intro={words.context.intro}>
            {(trace) => trace.step?.weights && <Elsewhere plain={trace} />}
        </OneStep>
    );
}
