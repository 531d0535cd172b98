import { Fragment, type ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import glossary from '../../data/glossary.json';
import { useLab } from '../lab';
import type { Language } from '../words';

export interface Entry {
    id: string;
    term: Record<Language, string>;
    text: Record<Language, string>;
    see?: string[];
}

export const entries = glossary as Entry[];
const byId = new Map(entries.map((entry) => [entry.id, entry]));

export function entryOf(id: string): Entry | undefined {
    return byId.get(id);
}

// What the entry is called in the other languages.
export function OtherLanguages(props: { entry: Entry; language: Language }) {
    return (
        <p class="languages">
            {(['en', 'fr', 'ar'] as const)
                .filter((l) => l !== props.language)
                .map((l) => (
                    <span key={l} lang={l} dir="auto">
                        {props.entry.term[l]}
                    </span>
                ))}
        </p>
    );
}

// One pop-up for the page: which entry, and the button that asked for it.
type Listener = (open: { entry: Entry; at: HTMLElement } | null) => void;
let listener: Listener = () => {};

export function Term(props: { id: string; children: ComponentChildren }) {
    const entry = byId.get(props.id);
    if (entry === undefined) return <>{props.children}</>;
    return (
        <button
            type="button"
            class="term"
            aria-haspopup="dialog"
            onClick={(e) => listener({ entry, at: e.currentTarget })}
        >
            {props.children}
        </button>
    );
}

export function GlossaryPopup() {
    const { language, words } = useLab();
    const [open, setOpen] = useState<{ entry: Entry; at: HTMLElement } | null>(null);
    const box = useRef<HTMLDivElement>(null);
    listener = setOpen;

    // Before it is painted: who sees it can shut it.
    useLayoutEffect(() => {
        if (open === null || box.current === null) return;
        const word = open.at.getBoundingClientRect();
        const own = box.current;
        const left = Math.max(8, Math.min(word.left, document.documentElement.clientWidth - own.offsetWidth - 8));
        const below = word.bottom + 8;
        const top = below + own.offsetHeight > innerHeight ? Math.max(8, word.top - own.offsetHeight - 8) : below;
        own.style.left = `${left}px`;
        own.style.top = `${top}px`;
        own.focus();
        const shut = (e: Event) => {
            if (e.type === 'scroll' || !own.contains(e.target as Node)) setOpen(null);
        };
        const key = (e: KeyboardEvent) => {
            if (e.key !== 'Escape') return;
            setOpen(null);
            open.at.focus();
        };
        addEventListener('pointerdown', shut);
        addEventListener('scroll', shut, { passive: true });
        addEventListener('keydown', key);
        return () => {
            removeEventListener('pointerdown', shut);
            removeEventListener('scroll', shut);
            removeEventListener('keydown', key);
        };
    }, [open]);

    if (open === null) return null;
    const { entry } = open;
    return (
        <div class="popup" role="dialog" aria-labelledby="popup-term" tabIndex={-1} ref={box}>
            <p class="popup-term" id="popup-term">
                {entry.term[language]}
            </p>
            <p>{entry.text[language]}</p>
            <OtherLanguages entry={entry} language={language} />
            <button
                type="button"
                class="quiet"
                onClick={() => {
                    setOpen(null);
                    open.at.focus();
                }}
            >
                {words.close}
            </button>
        </div>
    );
}

// Text with [[entry|words]] of the glossary and _variables_.
export function Prose(props: { text: string }) {
    const pieces = props.text.split(/(\[\[[^\]]*\]\]|_[^_\s]+_)/);
    return (
        <>
            {pieces.map((piece, i) => {
                if (piece.startsWith('[[')) {
                    const [id, words] = piece.slice(2, -2).split('|');
                    return (
                        <Term key={i} id={id}>
                            {words}
                        </Term>
                    );
                }
                if (i % 2 === 1) return <var key={i}>{piece.slice(1, -1)}</var>;
                return <Fragment key={i}>{piece}</Fragment>;
            })}
        </>
    );
}
