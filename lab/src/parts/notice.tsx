import type { ComponentChildren } from 'preact';
import { useLab } from '../lab';
import type { Answer } from '../api';

export function Waiting() {
    const { words } = useLab();
    return (
        <p class="waiting" role="status">
            {words.waiting}
        </p>
    );
}

export function Failure(props: { message: string }) {
    const { words } = useLab();
    return (
        <p class="failure" role="alert">
            <strong>{words.failed}</strong> <span dir="auto">{props.message}</span>
        </p>
    );
}

export function Notice(props: { children: ComponentChildren }) {
    return <p class="notice">{props.children}</p>;
}

// What an answer has to show: itself, that it is awaited, or what went wrong.
export function Shown<T>(props: { answer: Answer<T>; children: (data: T) => ComponentChildren }) {
    const { data, error, waiting } = props.answer;
    if (error !== null) return <Failure message={error} />;
    if (data === null) return waiting ? <Waiting /> : null;
    return (
        <div class={waiting ? 'stale' : undefined} aria-busy={waiting}>
            {props.children(data)}
        </div>
    );
}
