// What the server answers; /openapi.json describes it in full.

export type DecoderOrder = 'look-first' | 'update-first' | 'conditional';

export interface Model {
    name: string;
    preset: string;
    source?: string | null;
    target?: string | null;
    parameters: number;
    vocab_source: number;
    vocab_target: number;
    decoder_order?: DecoderOrder | null;
    decoder_start?: 'backward' | 'mean' | null;
    reset?: 'before' | 'after' | null;
    layer_norm?: 'none' | 'encoder' | 'all' | null;
    attention: boolean;
    trace?: boolean;
    training?: Record<string, unknown> | null;
    sizes: Record<string, unknown>;
    tensors: { name: string; shape: number[] }[];
    file_bytes: number;
    evaluation?: Score[] | null;
}

export interface Models {
    models: Model[];
    memory_bytes?: number | null; // of the server, with all models
}

// Of `softalign evaluate --json --by-length`: figure 2 of the paper.
export interface Score {
    metric: string;
    score: number;
    by_length?: { first: number; last: number; lines: number; mean_words: number; score: number }[];
}

export interface Hypothesis {
    text: string;
    score: number;
    normalized_score: number;
    words?: string[]; // of the text, "</s>" last; this and what follows with an alignment
    source_words?: string[]; // likewise
    symbols?: string[]; // of the model, "</s>" last
    symbol_scores?: number[];
    alignment?: number[][]; // a row for each of `words`, a column for each of `source_words`
    links?: [number, number, number][]; // source word, target word, weight
}

// One that came with its alignment.
export type AlignedHypothesis = Hypothesis & Required<Pick<Hypothesis, 'words' | 'source_words' | 'alignment'>>;

export function isAligned(h: Hypothesis | undefined): h is AlignedHypothesis {
    return h?.alignment !== undefined && h.words !== undefined && h.source_words !== undefined;
}

export interface Translated {
    translations: { hypotheses: Hypothesis[] }[];
    elapsed_ms?: number;
}

export interface Aligned {
    alignments: {
        source_words: string[];
        target_words: string[];
        links: [number, number, number][];
        weights: number[][];
    }[];
}

export interface Scored {
    scores: { score: number; normalized_score: number; symbols?: string[]; symbol_scores?: number[] }[];
}

export interface NextWord {
    symbol: string;
    p: number;
}

// One step of the decoder. What belongs to the attention is absent where the model has none.
export interface Step {
    i: number;
    Wa_s?: number[];
    Ua_h?: number[][];
    sum?: number[][];
    tanh?: number[][];
    v_a?: number[];
    energy?: number[];
    weights?: number[];
    context?: number[];
    state: number[];
    units?: Unit[];
    readout?: number[];
    next: NextWord[];
    next_original?: NextWord[];
}

export interface Unit {
    name: string;
    update: number[];
    reset: number[];
    candidate: number[];
    state: number[];
}

export interface Trace {
    preset: string;
    decoder_order: DecoderOrder;
    source_words: string[];
    source_symbols: string[];
    source_word: number[]; // the word of each symbol; -1: </s>
    target: string;
    target_symbols: string[];
    log_p: number[];
    annotations?: { forward?: number[][]; backward?: number[][]; values?: number[][] }; // `values` where directions are not kept apart
    sensitivity?: number[][]; // of annotation j to the embedding of word k; a row sums to 1
    weights?: number[][];
    energies?: number[][];
    annotation_gradient?: number[][];
    source_gradient?: number[][]; // |d log p(y_i) / d x_k|
    step?: Step;
}

export interface Tau {
    tau: number | null;
    p: number | null;
}

// A record of `softalign explain`.
export interface Explained {
    source: string[];
    target: {
        symbol: string;
        log_p: number;
        attention: number[];
        gradient: number[];
        'leave-one-out': (number | null)[];
        carried: number[];
        tau: Record<string, Tau>;
        permuted?: number;
        adversary?: { jsd: number; tvd: number; attention: number[] } | null;
    }[];
}

export interface ExplainedAnswer {
    explanations: Explained[];
}
