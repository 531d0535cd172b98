import { Fragment, type ComponentChildren } from 'preact';

// Equations are written in a small part of TeX and become MathML:
//   e_{ij}  x^T  \frac{a}{b}  \sum_{j=1}^{S}  \tanh  \fw{h}  \bw{h}  \part{name}{...}
// A \part is lit when the equation is told so. Letters are variables, \words are names.

interface Reader {
    text: string;
    at: number;
    lit: string | null;
}

const symbols: Record<string, string> = {
    alpha: 'α',
    sigma: 'σ',
    sum: '∑',
    circ: '∘',
    prop: '∝',
    top: '⊤',
    dots: '…',
    in: '∈',
    times: '×',
    cdot: '·',
    tilde: '~',
    partial: '∂',
    tau: 'τ',
    lambda: 'λ',
    sqrt: '√',
    R: 'ℝ',
    leq: '≤',
};
const operators = new Set(['∑', '∘', '∝', '∈', '×', '·', '…', '∂', '≤']);

function group(r: Reader): ComponentChildren {
    if (r.text[r.at] !== '{') return atom(r);
    r.at++;
    const inside = row(r, '}');
    r.at++;
    return <mrow>{inside}</mrow>;
}

function argument(r: Reader): string {
    const end = r.text.indexOf('}', r.at);
    const text = r.text.slice(r.at + 1, end);
    r.at = end + 1;
    return text;
}

function command(r: Reader): ComponentChildren {
    const name = /^[a-zA-Z]+/.exec(r.text.slice(r.at))?.[0] ?? '';
    r.at += name.length;
    if (name === 'frac')
        return (
            <mfrac>
                {group(r)}
                {group(r)}
            </mfrac>
        );
    if (name === 'fw' || name === 'bw')
        return (
            <mover>
                {group(r)}
                <mo stretchy="false">{name === 'fw' ? '→' : '←'}</mo>
            </mover>
        );
    if (name === 'til')
        return (
            <mover>
                {group(r)}
                <mo stretchy="false">~</mo>
            </mover>
        );
    if (name === 'text') return <mtext>{argument(r)}</mtext>;
    if (name === 'part') {
        const part = argument(r);
        return (
            <mrow class={r.lit === part ? 'lit' : undefined} data-part={part}>
                {group(r)}
            </mrow>
        );
    }
    const symbol = symbols[name];
    if (symbol !== undefined) return operators.has(symbol) ? <mo>{symbol}</mo> : <mi>{symbol}</mi>;
    return <mi mathvariant="normal">{name}</mi>;
}

function atom(r: Reader): ComponentChildren {
    const c = r.text[r.at];
    r.at++;
    if (c === '\\') return command(r);
    if (/[0-9]/.test(c)) {
        const more = /^[0-9.]*/.exec(r.text.slice(r.at))?.[0] ?? '';
        r.at += more.length;
        return <mn>{c + more}</mn>;
    }
    if (/\p{L}/u.test(c)) return <mi>{c}</mi>;
    return <mo stretchy="false">{c === '-' ? '−' : c}</mo>;
}

function scripted(r: Reader): ComponentChildren {
    const base = atom(r);
    let sub: ComponentChildren = null;
    let sup: ComponentChildren = null;
    while (r.text[r.at] === '_' || r.text[r.at] === '^') {
        const low = r.text[r.at] === '_';
        r.at++;
        if (low) sub = group(r);
        else sup = group(r);
    }
    if (sub && sup)
        return (
            <msubsup>
                {base}
                {sub}
                {sup}
            </msubsup>
        );
    if (sub)
        return (
            <msub>
                {base}
                {sub}
            </msub>
        );
    if (sup)
        return (
            <msup>
                {base}
                {sup}
            </msup>
        );
    return base;
}

function row(r: Reader, end: string | null): ComponentChildren[] {
    const out: ComponentChildren[] = [];
    while (r.at < r.text.length && r.text[r.at] !== end) {
        if (r.text[r.at] === ' ') r.at++;
        else out.push(<Fragment key={r.at}>{scripted(r)}</Fragment>);
    }
    return out;
}

export function Eq(props: { tex: string; lit?: string | null; block?: boolean }) {
    const r: Reader = { text: props.tex, at: 0, lit: props.lit ?? null };
    return (
        <math dir="ltr" displaystyle={props.block} class={props.block ? 'equation' : undefined}>
            {row(r, null)}
        </math>
    );
}
