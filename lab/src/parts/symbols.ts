// How numbers and the model's symbols are written.
import type { DecoderOrder } from '../types';

// A subword model marks the beginning of a word with ▁; on its own it is a blank.
export function shown(symbol: string): string {
    if (symbol === '</s>') return '⏎';
    if (symbol === '▁') return '␣';
    return symbol.replace(/^▁/, '').replace(/▁/g, '␣');
}

// The state of the decoder that the alignment model is asked with, in TeX.
export function asking(order: DecoderOrder | null | undefined): string {
    return order === 'conditional' ? 's′_i' : 's_{i-1}';
}

export function beginsWord(symbol: string): boolean {
    return symbol.startsWith('▁');
}

export function percent(p: number): string {
    if (p > 0 && p < 0.001) return '<0.1%';
    return `${(100 * p).toFixed(p < 0.1 ? 1 : 0)}%`;
}

export function decimal(x: number, digits = 3): string {
    return x.toFixed(digits).replace('-', '−');
}

// The narrow space keeps the groups of a number together, in Arabic too.
export function count(n: number): string {
    return n.toLocaleString('en-US').replace(/,/g, '\u202f');
}

export function bytes(n: number): string {
    return n >= 1e9
        ? `${(n / 1e9).toFixed(1)} GB`
        : n >= 1e6
          ? `${(n / 1e6).toFixed(1)} MB`
          : `${(n / 1e3).toFixed(0)} kB`;
}

// Places of the k largest, by magnitude.
export function largest(values: number[], k: number): number[] {
    return values
        .map((_, i) => i)
        .sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]))
        .slice(0, k);
}

// The probability of each word: the product of those of its symbols. Empty where the model's symbols do not make up so
// many words, "</s>" included.
export function wordProbabilities(from: { symbols?: string[]; symbol_scores?: number[] }, words: number): number[] {
    const { symbols, symbol_scores: scores } = from;
    if (symbols === undefined || scores === undefined) return [];
    const subwords = symbols.some(beginsWord);
    const sums: number[] = [];
    symbols.forEach((symbol, i) => {
        if (sums.length === 0 || !subwords || beginsWord(symbol) || symbol === '</s>') sums.push(scores[i]);
        else sums[sums.length - 1] += scores[i];
    });
    return sums.length === words ? sums.map(Math.exp) : [];
}
