import { Scroll } from './scroll';

export interface Line {
    name: string;
    points: [number, number][];
    dashed?: boolean;
}

// A step of 1, 2 or 5 times a power of ten, so that about `wished` ticks fit.
function ticks(from: number, to: number, wished: number): number[] {
    const raw = (to - from) / wished || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
    const out: number[] = [];
    for (let v = Math.ceil(from / step) * step; v <= to + step * 1e-6; v += step)
        out.push(Number(v.toPrecision(6)));
    return out;
}

// Lines over numbers, told apart by dash and mark as well as by colour. The same numbers are in a table below.
export function Chart(props: {
    label: string;
    x: string;
    y: string;
    lines: Line[];
    zero?: boolean;
    digits?: number;
}) {
    const all = props.lines.flatMap((l) => l.points);
    if (all.length === 0) return null;
    const xs = all.map((p) => p[0]);
    const ys = all.map((p) => p[1]);
    const x0 = Math.min(...xs, 0);
    const x1 = Math.max(...xs);
    const y0 = props.zero ? Math.min(0, ...ys) : Math.min(...ys);
    const y1 = props.zero ? Math.max(0, ...ys) : Math.max(...ys);
    const width = 620;
    const height = 280;
    const box = { left: 56, right: 14, top: 14, bottom: 42 };
    const px = (x: number) => box.left + ((x - x0) / (x1 - x0 || 1)) * (width - box.left - box.right);
    const py = (y: number) => height - box.bottom - ((y - y0) / (y1 - y0 || 1)) * (height - box.top - box.bottom);
    const digits = props.digits ?? 2;
    return (
        <figure class="chart">
            <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={props.label} direction="ltr">
                {ticks(y0, y1, 5).map((y) => (
                    <g key={y}>
                        <line class="grid" x1={box.left} x2={width - box.right} y1={py(y)} y2={py(y)} />
                        <text x={box.left - 8} y={py(y) + 4} text-anchor="end" font-size="12">
                            {y}
                        </text>
                    </g>
                ))}
                {ticks(x0, x1, 7).map((x) => (
                    <text key={x} x={px(x)} y={height - box.bottom + 18} text-anchor="middle" font-size="12">
                        {x}
                    </text>
                ))}
                <text x={(box.left + width - box.right) / 2} y={height - 6} text-anchor="middle" font-size="12">
                    {props.x}
                </text>
                <text
                    transform={`translate(13 ${(box.top + height - box.bottom) / 2}) rotate(-90)`}
                    text-anchor="middle"
                    font-size="12"
                >
                    {props.y}
                </text>
                {props.lines.map((line, k) => (
                    <g key={line.name} class={`line l${k}`}>
                        <polyline
                            points={line.points.map(([x, y]) => `${px(x)},${py(y)}`).join(' ')}
                            stroke-dasharray={k > 0 ? '6 4' : undefined}
                        />
                        {line.points.map(([x, y], i) =>
                            k === 0 ? (
                                <circle key={i} cx={px(x)} cy={py(y)} r="3.5" />
                            ) : (
                                <rect key={i} x={px(x) - 3.5} y={py(y) - 3.5} width="7" height="7" />
                            ),
                        )}
                    </g>
                ))}
            </svg>
            {props.lines.length > 1 && (
                <figcaption>
                    {props.lines.map((line, k) => (
                        <span key={line.name} class={`key l${k}`}>
                            {line.name}
                        </span>
                    ))}
                </figcaption>
            )}
            <Scroll>
                <table class="small">
                    <thead>
                        <tr>
                            <th scope="col">{props.x}</th>
                            {props.lines.map((l) => (
                                <th key={l.name} scope="col" class="number">
                                    {props.lines.length > 1 ? l.name : props.y}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {[...new Set(xs)]
                            .sort((a, b) => a - b)
                            .map((x) => (
                                <tr key={x}>
                                    <th scope="row">{Number(x.toFixed(1))}</th>
                                    {props.lines.map((l) => (
                                        <td key={l.name} class="number">
                                            {l.points
                                                .find((p) => p[0] === x)?.[1]
                                                .toFixed(digits)
                                                .replace('-', '−') ?? ''}
                                        </td>
                                    ))}
                                </tr>
                            ))}
                    </tbody>
                </table>
            </Scroll>
        </figure>
    );
}
