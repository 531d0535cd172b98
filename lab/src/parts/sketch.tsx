import { useLab } from '../lab';
import type { Kin } from '../family';

interface Plan {
    encoder: 'right' | 'both' | 'self' | 'picture';
    layers: number;
    middle: 'vector' | 'attention' | 'heads';
}

const plans: Record<Kin, Plan> = {
    rnnencdec: { encoder: 'right', layers: 1, middle: 'vector' },
    seq2seq: { encoder: 'right', layers: 4, middle: 'vector' },
    rnnsearch: { encoder: 'both', layers: 1, middle: 'attention' },
    caption: { encoder: 'picture', layers: 1, middle: 'attention' },
    luong: { encoder: 'right', layers: 4, middle: 'attention' },
    gnmt: { encoder: 'both', layers: 8, middle: 'attention' },
    transformer: { encoder: 'self', layers: 6, middle: 'heads' },
};

const columns = [0, 1, 2, 3];

function Stack(props: { x: number; layers: number; kind: Plan['encoder']; both: boolean }) {
    const { layers, kind, x } = props;
    const shownLayers = Math.min(layers, 4);
    const gap = 30;
    const bottom = 150;
    const out = [];
    for (let l = 0; l < shownLayers; l++) {
        const y = bottom - l * gap;
        const lowest = l === 0;
        for (const k of columns) {
            if (kind === 'self')
                for (const m of columns)
                    if (l > 0 && m !== k)
                        out.push(
                            <line
                                key={`s${l}-${k}-${m}`}
                                class="thin"
                                x1={x + m * 44 + 15}
                                y1={y + gap - 10}
                                x2={x + k * 44 + 15}
                                y2={y + 12}
                            />,
                        );
            if (kind !== 'self' && kind !== 'picture' && k < 3) {
                out.push(
                    <line
                        key={`r${l}-${k}`}
                        class="arrow"
                        x1={x + k * 44 + 31}
                        y1={y + (props.both && lowest ? 1 : 6)}
                        x2={x + (k + 1) * 44 - 2}
                        y2={y + (props.both && lowest ? 1 : 6)}
                        marker-end="url(#tip)"
                    />,
                );
                if (props.both && lowest)
                    out.push(
                        <line
                            key={`b${k}`}
                            class="arrow"
                            x1={x + (k + 1) * 44 - 1}
                            y1={y + 9}
                            x2={x + k * 44 + 33}
                            y2={y + 9}
                            marker-end="url(#tip)"
                        />,
                    );
            }
            out.push(
                <rect
                    key={`c${l}-${k}`}
                    class={kind === 'picture' ? 'cell place' : 'cell'}
                    x={x + k * 44}
                    y={y - 6}
                    width="30"
                    height="22"
                    rx={kind === 'picture' ? 0 : 5}
                />,
            );
            if (l > 0 && kind !== 'self')
                out.push(
                    <line
                        key={`u${l}-${k}`}
                        class="thin"
                        x1={x + k * 44 + 15}
                        y1={y + gap - 7}
                        x2={x + k * 44 + 15}
                        y2={y + 17}
                    />,
                );
        }
    }
    return <g>{out}</g>;
}

// The shape of a model: what reads, what writes, and what is between them.
export function Sketch(props: { kin: Kin }) {
    const { words } = useLab();
    const d = words.family.diagrams;
    const plan = plans[props.kin];
    const top = 150 - (Math.min(plan.layers, 4) - 1) * 30;
    const decoder = plan.encoder === 'self' ? 'self' : 'right';
    return (
        <svg
            class="sketch"
            viewBox={`0 ${top - 74} 480 ${274 - top}`}
            role="img"
            aria-label={words.family.ideas[props.kin]}
            direction="ltr"
        >
            <defs>
                <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">
                    <path d="M0 0L8 4L0 8z" />
                </marker>
            </defs>
            <Stack x={16} layers={plan.layers} kind={plan.encoder} both={plan.encoder === 'both'} />
            <Stack x={300} layers={plan.encoder === 'picture' ? 1 : plan.layers} kind={decoder} both={false} />
            {plan.middle === 'vector' ? (
                <line class="flowing" x1="180" y1="155" x2="294" y2="155" marker-end="url(#tip)" />
            ) : (
                columns.map((k) =>
                    columns.map(
                        (m) =>
                            (plan.middle === 'heads' || m === 1 || m === 2) && (
                                <path
                                    key={`${k}${m}`}
                                    class={m === k ? 'look strong' : 'look'}
                                    d={`M${16 + k * 44 + 15} ${top - 8} C ${16 + k * 44 + 15} ${top - 60}, ${300 + m * 44 + 15} ${top - 60}, ${300 + m * 44 + 15} ${top - 8}`}
                                />
                            ),
                    ),
                )
            )}
            <text x="97" y="192" text-anchor="middle" font-size="13">
                {plan.encoder === 'picture' ? d.picture : plan.encoder === 'self' ? d.self : d.encoder}
                {plan.layers > 1 ? ` (${plan.layers} ${d.layers})` : ''}
            </text>
            <text x="381" y="192" text-anchor="middle" font-size="13">
                {d.decoder}
                {plan.layers > 1 ? ` (${plan.layers} ${d.layers})` : ''}
            </text>
            <text x="238" y={plan.middle === 'vector' ? 145 : top - 54} text-anchor="middle" font-size="13">
                {plan.middle === 'vector' ? d.vector : d.attention}
            </text>
        </svg>
    );
}
