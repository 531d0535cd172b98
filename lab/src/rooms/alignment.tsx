import { useLayoutEffect, useState } from 'preact/hooks';
import { useLab } from '../lab';
import { Bars, Picker } from '../parts/bars';
import { Eq } from '../parts/math';
import { Notice } from '../parts/notice';
import { OneStep } from '../parts/one_step';
import { Scroll } from '../parts/scroll';
import { asking, decimal, percent, shown } from '../parts/symbols';
import { Player, usePlayer } from '../parts/player';
import type { Step, Trace } from '../types';

// A step with an attention.
type Looked = Required<Step>;

const stages = ['was', 'uah', 'sum', 'tanh', 'va', 'softmax'] as const;

// s: the state that asks.
const stageTex = (s: string): Record<(typeof stages)[number], string> => ({
    was: `W_a ${s}`,
    uah: 'U_a h_j',
    sum: `W_a ${s} + U_a h_j`,
    tanh: '\\tanh(\\dots)',
    va: 'e_{ij} = v_a^\\top \\tanh(\\dots)',
    softmax: '\\alpha_{ij} = \\softmax_j(e_{ij})',
});

const energyEquation = (s: string) =>
    `e_{ij} = \\part{va}{v_a^\\top} \\part{tanh}{\\tanh} (\\part{sum}{\\part{was}{W_a ${s}} + \\part{uah}{U_a h_j}})`;
const softmaxEquation = '\\part{softmax}{\\alpha_{ij} = \\frac{\\exp(e_{ij})}{\\sum_{k} \\exp(e_{ik})}}';

// The vectors of a stage, for source position j. `sum` and `tanh` share the scale of their parts, so that what grows is seen to grow.
function Vectors(props: { step: Looked; s: string; j: number; stage: number }) {
    const { step, s, j, stage } = props;
    const { words } = useLab();
    const product = step.tanh[j].map((x, k) => x * step.v_a[k]);
    const scale = Math.max(
        ...step.Wa_s.map(Math.abs),
        ...step.Ua_h[j].map(Math.abs),
        ...step.sum[j].map(Math.abs),
        1e-9,
    );
    const vectors = [
        { stage: 0, tex: `W_a ${s}`, values: step.Wa_s, scale },
        { stage: 1, tex: 'U_a h_j', values: step.Ua_h[j], scale },
        { stage: 2, tex: `W_a ${s} + U_a h_j`, values: step.sum[j], scale },
        { stage: 3, tex: '\\tanh(\\dots)', values: step.tanh[j], scale: 1 },
        { stage: 4, tex: 'v_a', values: step.v_a, scale: undefined },
        { stage: 4, tex: 'v_a \\circ \\tanh(\\dots)', values: product, scale: undefined },
    ];
    return (
        <div class="vectors" aria-live="off">
            {vectors
                .filter((v) => v.stage <= stage)
                .map((v) => (
                    <div key={v.tex} class={v.stage === stage ? 'vector now' : 'vector'}>
                        <span class="name">
                            <Eq tex={v.tex} />
                        </span>
                        <Bars values={v.values} scale={v.scale} label={v.tex.replace(/\\[a-z]+/g, '')} />
                    </div>
                ))}
            {stage >= 4 && (
                <p class="result">
                    <Eq tex="e_{ij}" /> ={' '}
                    <strong data-energy dir="ltr">
                        {decimal(step.energy[j])}
                    </strong>
                    {stage >= 5 && (
                        <>
                            {' '}
                            <span class="arrow" aria-hidden="true">
                                →
                            </span>{' '}
                            <Eq tex="\alpha_{ij}" /> = <strong data-weight>{percent(step.weights[j])}</strong>
                        </>
                    )}
                </p>
            )}
            <p class="hint">
                {words.alignment.dimensions} ({step.Wa_s.length})
            </p>
        </div>
    );
}

function Inside(props: { trace: Trace; step: Looked }) {
    const { trace, step } = props;
    const { words, symbol } = useLab();
    const w = words.alignment;
    const best = step.weights.indexOf(Math.max(...step.weights));
    const [j, setJ] = useState(best);
    const player = usePlayer(stages.length, 1600);
    useLayoutEffect(() => setJ(best), [step]);
    const at = Math.min(j, step.weights.length - 1);
    const stage = player.at;
    const s = asking(trace.decoder_order);
    const tex = stageTex(s);
    return (
        <>
            <Picker
                name="source-j"
                label={words.sourceWordJ.replace(/_/g, '')}
                words={trace.source_symbols.map(shown)}
                at={at}
                onPick={setJ}
            />
            <Scroll class="equations">
                <Eq block tex={energyEquation(s)} lit={stages[stage]} />
                <Eq block tex={softmaxEquation} lit={stages[stage]} />
            </Scroll>
            <Player player={player} />
            <ol class="stages">
                {stages.map((name, k) => (
                    <li key={name}>
                        <button
                            type="button"
                            aria-current={k === stage ? 'step' : undefined}
                            onClick={() => player.go(k)}
                        >
                            <Eq tex={tex[name]} /> <span>{w.stages[name]}</span>
                        </button>
                    </li>
                ))}
            </ol>
            <Vectors step={step} s={s} j={at} stage={stage} />
            <h2>{w.energies}</h2>
            <Scroll>
                <table class="energies">
                    <thead>
                        <tr>
                            <th scope="col">{words.sourceWord}</th>
                            <th scope="col" class="number">
                                {w.energy}
                            </th>
                            <th scope="col" colSpan={2}>
                                {w.weight}
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {step.energy.map((e, k) => (
                            <tr key={k} class={k === at ? 'at' : undefined}>
                                <th scope="row">
                                    <button
                                        type="button"
                                        class="quiet"
                                        aria-pressed={k === at}
                                        onClick={() => setJ(k)}
                                    >
                                        <bdi>{shown(trace.source_symbols[k])}</bdi>
                                    </button>
                                </th>
                                <td class="number">{decimal(e)}</td>
                                <td class="track">
                                    <span class="fill" style={{ width: `${100 * step.weights[k]}%` }} />
                                </td>
                                <td class="number">{percent(step.weights[k])}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </Scroll>
            <p class="summary">
                {w.decides(
                    shown(trace.source_symbols[best]),
                    shown(trace.target_symbols[symbol]),
                    percent(step.weights[best]),
                )}
            </p>
            <p class="hint">{words.orderNote[trace.decoder_order]}</p>
        </>
    );
}

export function Alignment() {
    const { words, model } = useLab();
    return (
        <OneStep intro={words.alignment.intro}>
            {(trace) =>
                trace.step?.Wa_s && trace.step.v_a ? (
                    <Inside trace={trace} step={trace.step as Looked} />
                ) : (
                    <Notice>{words.needsTrace(model?.name ?? '')}</Notice>
                )
            }
        </OneStep>
    );
}
