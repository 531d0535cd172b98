import { Scroll } from './scroll';
import { largest } from './symbols';

// A vector as bars, one for each number; the few largest named by index.
export function Bars(props: { values: number[]; label: string; scale?: number; named?: number; height?: number }) {
    const { values } = props;
    const height = props.height ?? 54;
    const scale = props.scale ?? Math.max(...values.map(Math.abs), 1e-9);
    const named = largest(values, props.named ?? 3);
    const width = 640;
    const step = width / values.length;
    const middle = height / 2 + 8;
    // One path for each sign: thousands of elements would be slow.
    const path = (positive: boolean) =>
        values
            .map((v, i) => {
                if (v === 0 || v > 0 !== positive) return '';
                const h = (Math.min(Math.abs(v) / scale, 1) * height) / 2;
                return `M${(i * step).toFixed(2)} ${middle}h${Math.max(step * 0.8, 0.6).toFixed(2)}v${(positive ? -h : h).toFixed(2)}h${(-Math.max(step * 0.8, 0.6)).toFixed(2)}z`;
            })
            .join('');
    return (
        <Scroll>
            <svg
                class="bars"
                viewBox={`0 0 ${width} ${height + 16}`}
                role="img"
                aria-label={`${props.label}: ${named.map((i) => `[${i}] ${values[i].toFixed(3)}`).join(', ')}`}
                direction="ltr"
            >
                <line class="axis" x1="0" x2={width} y1={middle} y2={middle} />
                <path class="positive" d={path(true)} />
                <path class="negative" d={path(false)} />
                {named.map((i) => (
                    <text
                        key={i}
                        x={Math.max(12, Math.min(width - 12, (i + 0.4) * step))}
                        text-anchor="middle"
                        font-size="10"
                        y={
                            values[i] > 0
                                ? Math.max(9, middle - (Math.min(values[i] / scale, 1) * height) / 2 - 2)
                                : Math.min(
                                      height + 15,
                                      middle + (Math.min(-values[i] / scale, 1) * height) / 2 + 10,
                                  )
                        }
                    >
                        {i}
                    </text>
                ))}
            </svg>
        </Scroll>
    );
}

// Shares of something, one line each: a word, a bar, a number.
export function Shares(props: {
    label: string;
    items: { name: string; value: number; text: string; at?: boolean }[];
    most?: number;
    onPick?: (i: number) => void;
}) {
    const most = props.most ?? Math.max(...props.items.map((x) => x.value), 1e-9);
    return (
        <ol class="shares" aria-label={props.label}>
            {props.items.map((item, i) => (
                <li key={i} class={item.at ? 'at' : undefined}>
                    {props.onPick ? (
                        <button type="button" class="name" aria-pressed={item.at} onClick={() => props.onPick?.(i)}>
                            <bdi>{item.name}</bdi>
                        </button>
                    ) : (
                        <span class="name">
                            <bdi>{item.name}</bdi>
                        </span>
                    )}
                    <span class="track">
                        <span class="fill" style={{ width: `${(100 * Math.max(0, item.value)) / most}%` }} />
                    </span>
                    <span class="number">{item.text}</span>
                </li>
            ))}
        </ol>
    );
}

// Words to pick one from.
export function Picker(props: {
    label: string;
    words: string[];
    at: number;
    onPick: (i: number) => void;
    until?: number;
    name: string;
}) {
    return (
        <fieldset class="picker">
            <legend>{props.label}</legend>
            <div dir="auto">
                {props.words.map((word, i) => (
                    <label key={i} class={props.until !== undefined && i > props.until ? 'later' : undefined}>
                        <input
                            type="radio"
                            name={props.name}
                            checked={i === props.at}
                            onChange={() => props.onPick(i)}
                        />
                        <span>
                            <bdi>{word}</bdi>
                        </span>
                    </label>
                ))}
            </div>
        </fieldset>
    );
}
