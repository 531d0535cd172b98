import { useMemo, useRef, useState } from 'preact/hooks';
import { Scroll } from './scroll';
import { shown } from './symbols';

export interface HeatmapProps {
    label: string;
    rows: string[];
    columns: string[];
    weights: number[][];
    links?: [number, number][]; // source, target: framed
    diagonal?: boolean;
    describe: (row: number, column: number) => string;
    svgRef?: (svg: SVGSVGElement | null) => void;
}

const font = 13;

// Long words must not push the cells out of sight.
function clipped(text: string): string {
    const letters = [...text];
    return letters.length > 16 ? `${letters.slice(0, 15).join('')}…` : text;
}

function widthOf(words: string[]): number {
    return Math.min(140, Math.max(...words.map((w) => [...clipped(w)].length)) * font * 0.58 + 14);
}

// Rows × columns, a cell as dark as its weight. One place in the tab order; arrow keys walk over the cells.
export function Heatmap(props: HeatmapProps) {
    const { rows, columns, weights } = props;
    const [at, setAt] = useState<[number, number] | null>(null);
    const area = useRef<SVGSVGElement | null>(null);
    // Sixty words must still be seen as a whole.
    const cell = columns.length > 34 ? 17 : 26;
    const left = widthOf(rows.map(shown));
    const top = widthOf(columns.map(shown));
    const width = left + columns.length * cell + 2;
    const height = top + rows.length * cell + 2;

    // A long sentence has thousands; they do not change while the pointer moves.
    const cells = useMemo(
        () =>
            rows.map((_, i) =>
                columns.map((_, j) => (
                    <rect
                        key={i * columns.length + j}
                        class="cell"
                        data-cell={`${i},${j}`}
                        x={left + j * cell + 0.5}
                        y={top + i * cell + 0.5}
                        width={cell - 1}
                        height={cell - 1}
                        fill-opacity={Math.min(1, weights[i]?.[j] ?? 0).toFixed(4)}
                    />
                )),
            ),
        [weights, left, top],
    );

    const point = (e: PointerEvent) => {
        const box = area.current?.getBoundingClientRect();
        if (!box) return;
        const scale = width / box.width;
        const column = Math.floor(((e.clientX - box.left) * scale - left) / cell);
        const row = Math.floor(((e.clientY - box.top) * scale - top) / cell);
        setAt(row >= 0 && row < rows.length && column >= 0 && column < columns.length ? [row, column] : null);
    };
    const walk = (e: KeyboardEvent) => {
        const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
        if (step === undefined) return;
        e.preventDefault();
        const [row, column] = at ?? [0, 0];
        setAt([
            Math.max(0, Math.min(rows.length - 1, row + (at ? step[0] : 0))),
            Math.max(0, Math.min(columns.length - 1, column + (at ? step[1] : 0))),
        ]);
    };

    return (
        <figure class="heatmap">
            <Scroll>
                <svg
                    ref={(svg) => {
                        area.current = svg;
                        props.svgRef?.(svg);
                    }}
                    viewBox={`0 0 ${width} ${height}`}
                    width={width}
                    height={height}
                    role="application"
                    aria-label={props.label}
                    tabindex={0}
                    direction="ltr"
                    onPointerMove={point}
                    onPointerDown={point}
                    onPointerLeave={() => setAt(null)}
                    onKeyDown={walk}
                >
                    {columns.map((word, j) => (
                        <text
                            key={j}
                            class={at?.[1] === j ? 'at' : undefined}
                            font-size={font}
                            text-anchor="start"
                            transform={`translate(${left + (j + 0.5) * cell + font / 3}, ${top - 6}) rotate(-90)`}
                        >
                            {clipped(shown(word))}
                        </text>
                    ))}
                    {rows.map((word, i) => (
                        <text
                            key={i}
                            class={at?.[0] === i ? 'at' : undefined}
                            font-size={font}
                            text-anchor="end"
                            x={left - 6}
                            y={top + (i + 0.5) * cell + font / 3}
                        >
                            {clipped(shown(word))}
                        </text>
                    ))}
                    <rect
                        class="ground"
                        x={left}
                        y={top}
                        width={columns.length * cell}
                        height={rows.length * cell}
                    />
                    {cells}
                    {props.diagonal && (
                        <line
                            class="diagonal"
                            x1={left}
                            y1={top}
                            x2={left + columns.length * cell}
                            y2={top + rows.length * cell}
                        />
                    )}
                    {props.links?.map(([j, i]) => (
                        <rect
                            key={`${i}-${j}`}
                            class="link"
                            x={left + j * cell + 2}
                            y={top + i * cell + 2}
                            width={cell - 4}
                            height={cell - 4}
                        />
                    ))}
                    {at && (
                        <rect
                            class="cursor"
                            x={left + at[1] * cell}
                            y={top + at[0] * cell}
                            width={cell}
                            height={cell}
                        />
                    )}
                </svg>
            </Scroll>
            <figcaption aria-live="polite">{at ? props.describe(at[0], at[1]) : props.label}</figcaption>
        </figure>
    );
}
