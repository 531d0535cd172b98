import { percent } from './symbols';

// Words in a line, each as tinted as its share of something; the share in numbers below it.
export function Tinted(props: {
    label: string;
    words: string[];
    shares: number[];
    marked?: boolean[];
    mark?: string;
    at?: number;
    onPick?: (i: number) => void;
}) {
    const most = Math.max(...props.shares, 1e-9);
    const inside = (word: string, i: number) => (
        <>
            <span class="glow" style={{ opacity: (props.shares[i] ?? 0) / most }} />
            <bdi class={props.marked?.[i] ? 'marked' : undefined}>{word}</bdi>
            <span class="number">{percent(props.shares[i] ?? 0)}</span>
        </>
    );
    return (
        <ol class="tinted" dir="auto" aria-label={props.label}>
            {props.words.map((word, i) => (
                <li key={i}>
                    {props.onPick ? (
                        <button
                            type="button"
                            class={i === props.at ? 'word at' : 'word'}
                            aria-pressed={i === props.at}
                            onClick={() => props.onPick?.(i)}
                        >
                            {inside(word, i)}
                        </button>
                    ) : (
                        <span class="word">
                            {inside(word, i)}
                            {props.marked?.[i] && <span class="aside"> ({props.mark})</span>}
                        </span>
                    )}
                </li>
            ))}
        </ol>
    );
}
