import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { useApi, type Answer } from './api';
import { examplesOf } from './examples';
import type { Hypothesis, Model, Models, Trace, Translated } from './types';
import { languages, type Language, type Words } from './words';

export const rooms = [
    'translate',
    'bottleneck',
    'annotations',
    'alignment',
    'context',
    'architecture',
    'matrix',
    'explanation',
    'family',
] as const;
export const sides = ['glossary', 'example', 'quiz'] as const;
export type Room = (typeof rooms)[number];
export type Place = Room | (typeof sides)[number];

// What all rooms share: one sentence, its translation by the chosen model, and how the page is shown.
export interface Lab {
    words: Words;
    language: Language;
    setLanguage: (language: Language) => void;
    theme: Theme;
    setTheme: (theme: Theme) => void;
    place: Place;
    go: (place: Place) => void;
    models: Answer<Models>;
    model: Model | null;
    setModel: (name: string) => void;
    source: string;
    setSource: (text: string) => void;
    beam: number;
    setBeam: (beam: number) => void;
    translated: Answer<Translated>;
    hypotheses: Hypothesis[];
    chosen: number; // of the hypotheses
    choose: (hypothesis: number) => void;
    symbol: number; // the target symbol that the step-by-step rooms look at
    setSymbol: (i: number) => void;
}

export type Theme = 'auto' | 'light' | 'dark';

export const LabContext = createContext<Lab | null>(null);

export function useLab(): Lab {
    const lab = useContext(LabContext);
    if (lab === null) throw new Error('outside of the lab');
    return lab;
}

function isPlace(name: string): name is Place {
    return (rooms as readonly string[]).includes(name) || (sides as readonly string[]).includes(name);
}

function placeOfAddress(): Place {
    const name = location.hash.replace(/^#/, '');
    return isPlace(name) ? name : 'translate';
}

// Storage can be refused (private windows); the page then forgets, and says nothing.
function remembered(name: string): string | null {
    try {
        return localStorage.getItem(name);
    } catch {
        return null;
    }
}
function remember(name: string, value: string): void {
    try {
        localStorage.setItem(name, value);
    } catch {
        // as above
    }
}

function firstLanguage(query: URLSearchParams): Language {
    for (const wish of [query.get('lang'), remembered('language'), ...navigator.languages]) {
        const language = (wish ?? '').slice(0, 2) as Language;
        if (language in languages) return language;
    }
    return 'en';
}

export const nBest = 5;

export function useLabState(): Lab {
    const query = useMemo(() => new URLSearchParams(location.search), []);
    const [language, setLanguage] = useState<Language>(() => firstLanguage(query));
    const [theme, setTheme] = useState<Theme>(() => (remembered('theme') as Theme | null) ?? 'auto');
    const [place, setPlace] = useState<Place>(placeOfAddress);
    const [modelName, setModel] = useState<string | null>(query.get('model'));
    const [typed, setSource] = useState<string | null>(query.get('q'));
    const [beam, setBeam] = useState(5);
    const [chosen, choose] = useState(0);
    const [symbol, setSymbol] = useState(0);
    const models = useApi<Models>('/v1/models', 'GET');

    const all = models.data?.models ?? [];
    // The first with an attention: most rooms are about it.
    const model = all.find((m) => m.name === modelName) ?? all.find((m) => m.attention) ?? all[0] ?? null;

    // Until something is typed, the first example in the model's language.
    const source = typed ?? (model === null ? '' : examplesOf(model)[0]);
    const text = source.trim();
    const translated = useApi<Translated>(
        '/v1/translate',
        model === null || text === ''
            ? null
            : {
                  model: model.name,
                  text,
                  beam_size: beam,
                  n_best: Math.min(beam, nBest),
                  alignment: model.attention,
                  word_scores: true,
              },
        250,
    );
    const hypotheses = text === '' ? [] : (translated.data?.translations[0]?.hypotheses ?? []);

    // Another translation has other symbols.
    useEffect(() => choose(0), [translated.key]);
    useEffect(() => setSymbol(0), [translated.key, chosen]);

    // The address says what is seen, so that it can be shared and reloaded. Going through rooms makes history, typing does not.
    useEffect(() => {
        const address = new URL(location.href);
        if (typed !== null) address.searchParams.set('q', typed);
        if (modelName !== null) address.searchParams.set('model', modelName);
        history.replaceState(history.state, '', address);
    }, [typed, modelName]);
    useEffect(() => {
        const moved = () => setPlace(placeOfAddress());
        addEventListener('hashchange', moved);
        return () => removeEventListener('hashchange', moved);
    }, []);
    const go = useCallback((next: Place) => {
        location.hash = next;
    }, []);

    useEffect(() => {
        document.documentElement.lang = language;
        document.documentElement.dir = languages[language].direction;
        remember('language', language);
    }, [language]);
    useEffect(() => {
        document.documentElement.dataset.theme = theme;
        remember('theme', theme);
    }, [theme]);

    return {
        words: languages[language],
        language,
        setLanguage,
        theme,
        setTheme,
        place,
        go,
        models,
        model,
        setModel,
        source,
        setSource,
        beam,
        setBeam,
        translated,
        hypotheses,
        chosen,
        choose,
        symbol,
        setSymbol,
    };
}

// What the model computed for the sentence and the chosen translation; null when there is none to ask for.
export function useTrace(
    extra: { step?: number; weights?: number[]; sensitivity?: boolean } = {},
    delay = 0,
): Answer<Trace> {
    const lab = useLab();
    const target = lab.hypotheses[lab.chosen]?.text;
    const ready = lab.model !== null && canTrace(lab.model) && target !== undefined && !lab.translated.waiting;
    return useApi<Trace>(
        '/v1/trace',
        ready ? { model: lab.model?.name, source: lab.source.trim(), target, sensitivity: false, ...extra } : null,
        delay,
    );
}

// The server can trace all that look with one head.
export function canTrace(model: Model): boolean {
    return model.trace ?? !/^(transformer|caption)/.test(model.preset);
}

// Those whose parts and equations the rooms show.
export function isSearch(model: Model): boolean {
    return ['rnnsearch', 'small', 'rnnencdec'].includes(model.preset);
}
