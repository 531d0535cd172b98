import { useRef, useState } from 'preact/hooks';
import { examplesOf } from '../examples';
import { canTrace, useLab, useTrace } from '../lab';
import { save, toPng, toSvg } from '../parts/download';
import { Heatmap } from '../parts/heatmap';
import { Failure, Notice } from '../parts/notice';
import { percent, shown } from '../parts/symbols';
import { Prose } from '../parts/term';
import { isAligned } from '../types';

const backMost = 12; // words that are listed

interface Drawn {
    rows: string[];
    columns: string[];
    weights: number[][];
    links: [number, number][];
}

// Rows that look back: their largest weight lies to the left of that of a row before. A look that is spread thin says nothing.
function backRows(drawn: Drawn): [number, number][] {
    const columns = drawn.columns.length - 1;
    const back: [number, number][] = [];
    let furthest = -1;
    for (let i = 0; i + 1 < drawn.rows.length; i++) {
        const weights = drawn.weights[i].slice(0, columns);
        const most = Math.max(...weights);
        const j = weights.indexOf(most);
        if (most < 0.3) continue;
        if (j < furthest) back.push([i, j]);
        furthest = Math.max(furthest, j);
    }
    return back;
}

export function Matrix() {
    const lab = useLab();
    const { words, model } = lab;
    const w = words.matrix;
    const [unit, setUnit] = useState<'words' | 'symbols'>('words');
    const [links, setLinks] = useState(false);
    const [diagonal, setDiagonal] = useState(false);
    const [failure, setFailure] = useState<string | null>(null);
    const svg = useRef<SVGSVGElement | null>(null);
    const trace = useTrace();
    if (model === null) return null;
    if (!model.attention) return <Notice>{words.needsAttention(model.name)}</Notice>;

    const h = lab.hypotheses[lab.chosen];
    let drawn: Drawn | null = null;
    if (unit === 'symbols' && trace.data?.weights)
        drawn = {
            rows: trace.data.target_symbols,
            columns: trace.data.source_symbols,
            weights: trace.data.weights,
            links: [],
        };
    else if (unit === 'words' && isAligned(h))
        drawn = {
            rows: h.words,
            columns: h.source_words,
            weights: h.alignment,
            links: (h.links ?? []).map(([j, i]) => [j, i]),
        };
    const back = drawn === null ? [] : backRows(drawn);

    const download = async (kind: 'svg' | 'png') => {
        if (svg.current === null) return;
        setFailure(null);
        try {
            save(`alignment.${kind}`, kind === 'svg' ? toSvg(svg.current) : await toPng(svg.current));
        } catch (error) {
            setFailure(String(error));
        }
    };

    return (
        <>
            <p>
                <Prose text={w.intro} />
            </p>
            <ol class="gallery" aria-label={words.examples}>
                {examplesOf(model)
                    .slice(0, 4)
                    .map((example) => (
                        <li key={example}>
                            <button
                                type="button"
                                class="chip"
                                dir="auto"
                                aria-pressed={lab.source === example}
                                onClick={() => lab.setSource(example)}
                            >
                                {example}
                            </button>
                        </li>
                    ))}
            </ol>
            <div class="tools">
                {canTrace(model) && (
                    <fieldset class="segments">
                        <legend>{w.unit}</legend>
                        {(['words', 'symbols'] as const).map((u) => (
                            <label key={u}>
                                <input type="radio" name="unit" checked={unit === u} onChange={() => setUnit(u)} />
                                <span>{u === 'words' ? w.wholeWords : w.symbols}</span>
                            </label>
                        ))}
                    </fieldset>
                )}
                <label class="check">
                    <input
                        type="checkbox"
                        checked={links}
                        disabled={unit === 'symbols'}
                        onChange={(e) => setLinks(e.currentTarget.checked)}
                    />
                    {w.links}
                </label>
                <label class="check">
                    <input
                        type="checkbox"
                        checked={diagonal}
                        onChange={(e) => setDiagonal(e.currentTarget.checked)}
                    />
                    {w.diagonal}
                </label>
                <button type="button" disabled={drawn === null} onClick={() => download('svg')}>
                    {w.svg}
                </button>
                <button type="button" disabled={drawn === null} onClick={() => download('png')}>
                    {w.png}
                </button>
            </div>
            {failure !== null && <Failure message={failure} />}
            {unit === 'symbols' && trace.error !== null && <Failure message={trace.error} />}
            {drawn !== null && (
                <>
                    <Heatmap
                        label={w.hover}
                        rows={drawn.rows}
                        columns={drawn.columns}
                        weights={drawn.weights}
                        links={links ? drawn.links : undefined}
                        diagonal={diagonal}
                        describe={(i, j) =>
                            w.cell(shown(drawn.rows[i]), shown(drawn.columns[j]), percent(drawn.weights[i][j]))
                        }
                        svgRef={(s) => {
                            svg.current = s;
                        }}
                    />
                    <h2>{w.back}</h2>
                    {back.length === 0 ? (
                        <p>{w.backNone}</p>
                    ) : (
                        <>
                            <p>{w.backNote}</p>
                            <ul class="plain">
                                {back.slice(0, backMost).map(([i, j]) => (
                                    <li key={i} dir="auto">
                                        {w.backItem(shown(drawn.rows[i]), shown(drawn.columns[j]))}{' '}
                                        <span class="figure">{percent(drawn.weights[i][j])}</span>
                                    </li>
                                ))}
                            </ul>
                        </>
                    )}
                </>
            )}
        </>
    );
}
