import { useEffect, useState } from 'preact/hooks';
import { useApi } from '../api';
import { canTrace, useLab } from '../lab';
import { Picker } from '../parts/bars';
import { Failure, Notice, Shown, Waiting } from '../parts/notice';
import { Scroll } from '../parts/scroll';
import { decimal, percent, shown } from '../parts/symbols';
import { Prose } from '../parts/term';
import type { ExplainedAnswer, Tau } from '../types';

const measures = ['attention', 'gradient', 'leave-one-out'] as const;
const pairs: [string, 'attention' | 'gradient', 'gradient' | 'leaveOneOut'][] = [
    ['attention, gradient', 'attention', 'gradient'],
    ['attention, leave-one-out', 'attention', 'leaveOneOut'],
    ['gradient, leave-one-out', 'gradient', 'leaveOneOut'],
];

function TauRow(props: { names: string; tau: Tau | undefined }) {
    const { words } = useLab();
    const { tau } = props;
    if (tau === undefined || tau.tau === null) return null;
    const x = 50 + 50 * tau.tau;
    return (
        <tr>
            <th scope="row">{props.names}</th>
            <td class="tau">
                <span class="track">
                    <span class="zero" />
                    <span class="dot" style={{ left: `${x}%` }} />
                </span>
            </td>
            <td class="number">
                <strong data-tau={props.names}>{decimal(tau.tau, 2)}</strong>
            </td>
            <td class="number">
                {words.explanation.p} {tau.p === null ? '–' : tau.p < 0.001 ? '< 0.001' : `= ${tau.p.toFixed(3)}`}
            </td>
        </tr>
    );
}

export function Explanation() {
    const lab = useLab();
    const { words, model } = lab;
    const w = words.explanation;
    const target = lab.hypotheses[lab.chosen]?.text;
    const ready =
        model?.attention && canTrace(model) && target !== undefined && target !== '' && !lab.translated.waiting;
    const request = ready ? { model: model.name, source: lab.source.trim(), target, permutations: 0 } : null;
    const explained = useApi<ExplainedAnswer>('/v1/explain', request);
    const [seeking, seek] = useState(false);
    const adversaries = useApi<ExplainedAnswer>(
        '/v1/explain',
        seeking && request ? { ...request, adversaries: 2, adversary_steps: 200 } : null,
    );
    useEffect(() => seek(false), [target, model?.name, lab.source]);
    if (model === null) return null;
    if (!model.attention) return <Notice>{words.needsAttention(model.name)}</Notice>;
    if (!canTrace(model)) return <Notice>{words.needsOneLook(model.name)}</Notice>;
    const names = { attention: w.attention, gradient: w.gradient, leaveOneOut: w.leaveOneOut };
    return (
        <>
            <p>
                <Prose text={w.intro} />
            </p>
            <Shown answer={explained}>
                {(data) => {
                    const record = data.explanations[0];
                    const at = Math.min(lab.symbol, record.target.length - 1);
                    const t = record.target[at];
                    const other = adversaries.data?.explanations[0]?.target[at]?.adversary;
                    const most = measures.map((m) => Math.max(...t[m].map((x) => x ?? 0), 1e-9));
                    const rows = record.source.map(shown);
                    return (
                        <>
                            <Picker
                                name="target-i"
                                label={words.targetWordI.replace(/_/g, '')}
                                words={record.target.map((x) => shown(x.symbol))}
                                at={at}
                                onPick={lab.setSymbol}
                            />
                            <p class="keys">
                                <span class="key">{w.attention}</span>
                                <span class="key other">{w.gradient}</span>
                                <span class="key third">{w.leaveOneOut}</span>
                            </p>
                            <ol class="twins" aria-label={w.title}>
                                {rows.map((word, j) => (
                                    <li key={j}>
                                        <span class="name">
                                            <bdi>{word}</bdi>
                                        </span>
                                        <span>
                                            {measures.map((m, k) => {
                                                const value = t[m][j];
                                                return (
                                                    <span key={m} class={`twin ${['own', 'other', 'third'][k]}`}>
                                                        <span class="track">
                                                            <span
                                                                class="fill"
                                                                style={{
                                                                    width: `${(100 * (value ?? 0)) / most[k]}%`,
                                                                }}
                                                            />
                                                        </span>
                                                        <span class="number">
                                                            {value === null ? '–' : value.toFixed(3)}
                                                        </span>
                                                    </span>
                                                );
                                            })}
                                        </span>
                                    </li>
                                ))}
                            </ol>
                            <h2>{w.tau}</h2>
                            <Scroll>
                                <table>
                                    <tbody>
                                        {pairs.map(([key, a, b]) => (
                                            <TauRow key={key} names={`${names[a]}, ${names[b]}`} tau={t.tau[key]} />
                                        ))}
                                    </tbody>
                                </table>
                            </Scroll>
                            <h2>{w.adversary}</h2>
                            {!seeking && (
                                <div class="tools">
                                    <button type="button" onClick={() => seek(true)}>
                                        {w.search}
                                    </button>
                                    <span class="hint">{w.searchNote}</span>
                                </div>
                            )}
                            {seeking && adversaries.waiting && <Waiting />}
                            {adversaries.error !== null && <Failure message={adversaries.error} />}
                            {adversaries.data !== null &&
                                !adversaries.waiting &&
                                (other ? (
                                    <>
                                        <p>{w.adversaryFound(other.jsd.toFixed(2), other.tvd.toFixed(3))}</p>
                                        <p class="keys">
                                            <span class="key">{w.own}</span>
                                            <span class="key other">{w.other}</span>
                                        </p>
                                        <ol class="twins" aria-label={w.adversary}>
                                            {rows.map((word, j) => (
                                                <li key={j}>
                                                    <span class="name">
                                                        <bdi>{word}</bdi>
                                                    </span>
                                                    <span>
                                                        {[t.attention[j], other.attention[j]].map((value, k) => (
                                                            <span key={k} class={`twin ${['own', 'other'][k]}`}>
                                                                <span class="track">
                                                                    <span
                                                                        class="fill"
                                                                        style={{ width: `${100 * value}%` }}
                                                                    />
                                                                </span>
                                                                <span class="number">{percent(value)}</span>
                                                            </span>
                                                        ))}
                                                    </span>
                                                </li>
                                            ))}
                                        </ol>
                                    </>
                                ) : (
                                    <p>{w.adversaryNone}</p>
                                ))}
                        </>
                    );
                }}
            </Shown>
            <h2>{w.essayTitle}</h2>
            <p>{w.essay}</p>
            <p>{w.essayShows}</p>
        </>
    );
}
