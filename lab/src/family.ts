import type { Words } from './words';

export type Kin = keyof Words['family']['ideas'];

// The papers' models, with the sizes of softalign's presets of the same name. Parameters are what `softalign inspect
// --preset NAME` counts at these sizes. A caption model's size is that of its picture network; the paper's is not ours.
export interface Relative {
    kin: Kin;
    year: number;
    title: string;
    authors: string;
    arxiv: string;
    parameters: number | null;
    vocabulary: string;
    context: string; // longest sentence in training
    embedding: string;
    state: string;
    attention: boolean;
}

export const relatives: Relative[] = [
    {
        kin: 'rnnencdec',
        year: 2014,
        title: 'RNN Encoder–Decoder',
        authors: 'Cho et al.',
        arxiv: '1406.1078',
        parameters: 68575240,
        vocabulary: '30 000, 30 000',
        context: '50',
        embedding: '620',
        state: '1000',
        attention: false,
    },
    {
        kin: 'seq2seq',
        year: 2014,
        title: 'Sequence to Sequence',
        authors: 'Sutskever, Vinyals, Le',
        arxiv: '1409.3215',
        parameters: 384112000,
        vocabulary: '160 000, 80 000',
        context: '–',
        embedding: '1000',
        state: '4 × 1000',
        attention: false,
    },
    {
        kin: 'rnnsearch',
        year: 2015,
        title: 'RNNsearch',
        authors: 'Bahdanau, Cho, Bengio',
        arxiv: '1409.0473',
        parameters: 80437240,
        vocabulary: '30 000, 30 000',
        context: '50',
        embedding: '620',
        state: '2 × 1000',
        attention: true,
    },
    {
        kin: 'caption',
        year: 2015,
        title: 'Show, Attend and Tell',
        authors: 'Xu et al.',
        arxiv: '1502.03044',
        parameters: null,
        vocabulary: '–, 10 000',
        context: '–',
        embedding: '512',
        state: '1800',
        attention: true,
    },
    {
        kin: 'luong',
        year: 2015,
        title: 'Effective Approaches',
        authors: 'Luong, Pham, Manning',
        arxiv: '1508.04025',
        parameters: 221082000,
        vocabulary: '50 000, 50 000',
        context: '50',
        embedding: '1000',
        state: '4 × 1000',
        attention: true,
    },
    {
        kin: 'gnmt',
        year: 2016,
        title: 'GNMT',
        authors: 'Wu et al.',
        arxiv: '1609.08144',
        parameters: 280858880,
        vocabulary: '32 000, 32 000',
        context: '–',
        embedding: '1024',
        state: '8 × 1024',
        attention: true,
    },
    {
        kin: 'transformer',
        year: 2017,
        title: 'Transformer',
        authors: 'Vaswani et al.',
        arxiv: '1706.03762',
        parameters: 63082632,
        vocabulary: '37 000, 37 000',
        context: '–',
        embedding: '512',
        state: '6 × 512',
        attention: true,
    },
];
