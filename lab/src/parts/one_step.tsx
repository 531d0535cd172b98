import type { ComponentChildren } from 'preact';
import { canTrace, useLab, useTrace } from '../lab';
import type { Trace } from '../types';
import { Picker } from './bars';
import { Notice, Shown } from './notice';
import { shown } from './symbols';
import { Prose } from './term';

// A room that looks into one step of the decoder: the words to choose it by, and what `children` shows of it.
export function OneStep(props: { intro: string; children: (trace: Trace) => ComponentChildren }) {
    const lab = useLab();
    const { words, model } = lab;
    const trace = useTrace({ step: lab.symbol });
    if (model === null) return null;
    if (!canTrace(model)) return <Notice>{words.needsTrace(model.name)}</Notice>;
    if (!model.attention) return <Notice>{words.needsAttention(model.name)}</Notice>;
    return (
        <>
            <p>
                <Prose text={props.intro} />
            </p>
            <Shown answer={trace}>
                {(data) => (
                    <>
                        <Picker
                            name="target-i"
                            label={words.targetWordI.replace(/_/g, '')}
                            words={data.target_symbols.map(shown)}
                            at={lab.symbol}
                            onPick={lab.setSymbol}
                        />
                        {props.children(data)}
                    </>
                )}
            </Shown>
        </>
    );
}
