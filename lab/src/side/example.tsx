import { useState } from 'preact/hooks';
import data from '../../data/worked-example.json';
import { useLab } from '../lab';
import { Eq } from '../parts/math';
import { Scroll } from '../parts/scroll';
import { decimal, percent, shown } from '../parts/symbols';
import type { Step, Trace } from '../types';

interface Gates {
    update: number[][];
    reset: number[][];
    candidate: number[][];
}

type Order = Trace & {
    start: number[];
    gates: { forward: Gates; backward: Gates };
    steps: (Required<Omit<Step, 'next_original'>> & { before_maxout: number[] })[];
};

const example = data as unknown as {
    parameters: Record<string, number[][]>;
    orders: Record<'look-first' | 'update-first', Order>;
};

// A name, and a column of numbers or a matrix.
function Value(props: { tex: string; of: number[] | number[][]; digits?: number }) {
    const rows = props.of.map((row) => (Array.isArray(row) ? row : [row]));
    return (
        <span class="value" dir="ltr">
            <Eq tex={`${props.tex} =`} />
            <table class="matrix">
                <tbody>
                    {rows.map((row, i) => (
                        <tr key={i}>
                            {row.map((x, j) => (
                                <td key={j}>{decimal(x, props.digits ?? 4)}</td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </span>
    );
}

function Reading(props: { order: Order; way: 'forward' | 'backward' }) {
    const { words } = useLab();
    const { order, way } = props;
    const gates = order.gates[way];
    const states = order.annotations?.[way] ?? [];
    const arrow = way === 'forward' ? '\\fw' : '\\bw';
    const S = order.source_symbols.length;
    const places = order.source_symbols.map((_, j) => (way === 'forward' ? j : S - 1 - j));
    return (
        <>
            <h3>{words.annotations[way]}</h3>
            {places.map((j) => (
                <div class="working" key={j}>
                    <p class="hint">{words.example.reads(shown(order.source_symbols[j]))}</p>
                    <div class="numbers">
                        <Value tex={`z_${j + 1}`} of={gates.update[j]} />
                        <Value tex={`r_${j + 1}`} of={gates.reset[j]} />
                        <Value tex={`\\til{h}_${j + 1}`} of={gates.candidate[j]} />
                        <Value tex={`${arrow}{h}_${j + 1}`} of={states[j]} />
                    </div>
                </div>
            ))}
        </>
    );
}

function DecoderStep(props: { order: Order; at: number }) {
    const { words } = useLab();
    const { order, at } = props;
    const step = order.steps[at];
    const i = at + 1;
    const lookFirst = order.decoder_order === 'look-first';
    const unit = step.units[0];
    const asks = lookFirst || at > 0 ? i - 1 : 0;
    // With look-first the unit of a step brought the state that now looks, with update-first the one that now writes.
    const update = unit && (
        <div class="numbers">
            <Value tex={lookFirst ? `z_{${i - 1}}` : `z_${i}`} of={unit.update} />
            <Value tex={lookFirst ? `r_{${i - 1}}` : `r_${i}`} of={unit.reset} />
            <Value tex={lookFirst ? `\\til{s}_{${i - 1}}` : `\\til{s}_${i}`} of={unit.candidate} />
            <Value tex={lookFirst ? `s_{${i - 1}}` : `s_${i}`} of={unit.state} />
        </div>
    );
    const best = step.next[0];
    return (
        <section>
            <h3>{words.example.decoderStep(i)}</h3>
            {lookFirst && update}
            <div class="numbers">
                <Value tex={`W_a s_${asks}`} of={step.Wa_s} />
                {step.Ua_h.map((u, j) => (
                    <Value key={j} tex={`U_a h_${j + 1}`} of={u} />
                ))}
            </div>
            <div class="numbers">
                {step.sum.map((u, j) => (
                    <Value key={j} tex={`W_a s_${asks} + U_a h_${j + 1}`} of={u} />
                ))}
            </div>
            <div class="numbers">
                {step.tanh.map((u, j) => (
                    <Value key={j} tex={`\\tanh(\\dots)_${j + 1}`} of={u} />
                ))}
            </div>
            <Scroll>
                <table>
                    <thead>
                        <tr>
                            <th scope="col">{words.sourceWord}</th>
                            <th scope="col" class="number">
                                <Eq tex={`e_{${i}j}`} />
                            </th>
                            <th scope="col" class="number">
                                <Eq tex={`\\alpha_{${i}j}`} />
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {step.energy.map((e, j) => (
                            <tr key={j}>
                                <th scope="row">
                                    <bdi>{shown(order.source_symbols[j])}</bdi>
                                </th>
                                <td class="number">{decimal(e, 4)}</td>
                                <td class="number">{decimal(step.weights[j], 4)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </Scroll>
            <div class="numbers">
                <Value tex={`c_${i}`} of={step.context} />
            </div>
            {!lookFirst && update}
            <div class="numbers">
                <Value tex={`\\til{t}_${i}`} of={step.before_maxout} />
                <Value tex={`t_${i}`} of={step.readout} />
            </div>
            <Scroll>
                <table>
                    <tbody>
                        {step.next.map((n) => (
                            <tr key={n.symbol}>
                                <th scope="row">
                                    <bdi>{shown(n.symbol)}</bdi>
                                </th>
                                <td class="number">{decimal(n.p, 4)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </Scroll>
            <p>{words.example.emits(shown(best.symbol), percent(best.p))}</p>
        </section>
    );
}

export function Example() {
    const { words } = useLab();
    const w = words.example;
    const [name, setName] = useState<'look-first' | 'update-first'>('look-first');
    const order = example.orders[name];
    return (
        <>
            <p>{w.intro}</p>
            <div class="tools">
                <fieldset class="segments">
                    <legend>{w.order}</legend>
                    {(['look-first', 'update-first'] as const).map((o) => (
                        <label key={o}>
                            <input type="radio" name="order" checked={o === name} onChange={() => setName(o)} />
                            <span>{o}</span>
                        </label>
                    ))}
                </fieldset>
            </div>
            <p class="hint">{words.orderNote[name]}</p>
            <p class="summary" dir="ltr">
                <bdi>{order.source_symbols.map(shown).join(' ')}</bdi> →{' '}
                <bdi>{order.target_symbols.map(shown).join(' ')}</bdi>
            </p>
            <h2>{w.encoder}</h2>
            <Reading order={order} way="forward" />
            <Reading order={order} way="backward" />
            <h2>{w.start}</h2>
            <div class="numbers">
                <Value tex="s_0 = \tanh(W_s \bw{h}_1)" of={order.start} />
            </div>
            {order.steps.map((_, i) => (
                <DecoderStep key={i} order={order} at={i} />
            ))}
            <details>
                <summary>{w.parameters}</summary>
                <div class="numbers">
                    {Object.entries(example.parameters).map(([key, values]) => (
                        <span class="value" dir="ltr" key={key}>
                            <code>{key}</code>
                            <table class="matrix">
                                <tbody>
                                    {values.map((row, i) => (
                                        <tr key={i}>
                                            {row.map((x, j) => (
                                                <td key={j}>{decimal(x, 1)}</td>
                                            ))}
                                        </tr>
                                    ))}
                                </tbody>
                            </table>
                        </span>
                    ))}
                </div>
            </details>
        </>
    );
}
