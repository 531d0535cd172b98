import { useEffect, useState } from 'preact/hooks';

export class ApiError extends Error {
    constructor(
        readonly status: number,
        message: string,
    ) {
        super(message);
    }
}

// The server's own words are shown: they say what is wrong and what to do.
async function messageOf(answer: Response): Promise<string> {
    try {
        const body = await answer.json();
        const error = body.error;
        if (typeof error === 'string') return error;
        if (typeof error?.message === 'string') return error.message;
    } catch {
        // Not JSON; the status has to do.
    }
    return `${answer.status} ${answer.statusText}`;
}

export async function ask<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    const answer = await fetch(
        path,
        body === null
            ? { signal }
            : {
                  method: 'POST',
                  headers: { 'content-type': 'application/json' },
                  body: JSON.stringify(body),
                  signal,
              },
    );
    if (!answer.ok) throw new ApiError(answer.status, await messageOf(answer));
    return (await answer.json()) as T;
}

export interface Answer<T> {
    data: T | null; // while a new answer is awaited, the last one
    error: string | null;
    waiting: boolean;
    key: string | null; // of `data`
}

// What was asked lately, so that going from room to room asks once.
const kept = new Map<string, unknown>();
const keptMost = 48;

function keep(key: string, value: unknown): void {
    kept.delete(key);
    kept.set(key, value);
    if (kept.size > keptMost) kept.delete(kept.keys().next().value as string);
}

// The answer to a request that follows the state of the page. A request of null is none. When the request changes
// before its answer has come, the answer is dropped.
export function useApi<T>(path: string, request: unknown | null, delay = 0): Answer<T> {
    const key = request === null ? null : path + JSON.stringify(request);
    const [answer, setAnswer] = useState<Answer<T>>({ data: null, error: null, waiting: key !== null, key: null });

    useEffect(() => {
        if (key === null) {
            setAnswer({ data: null, error: null, waiting: false, key: null });
            return;
        }
        if (kept.has(key)) {
            setAnswer({ data: kept.get(key) as T, error: null, waiting: false, key });
            return;
        }
        const stop = new AbortController();
        setAnswer((last) => ({ ...last, error: null, waiting: true }));
        const timer = setTimeout(async () => {
            try {
                const data = await ask<T>(path, request === 'GET' ? null : request, stop.signal);
                if (stop.signal.aborted) return;
                keep(key, data);
                setAnswer({ data, error: null, waiting: false, key });
            } catch (error) {
                if (stop.signal.aborted) return;
                setAnswer({
                    data: null,
                    error: error instanceof Error ? error.message : String(error),
                    waiting: false,
                    key,
                });
            }
        }, delay);
        return () => {
            clearTimeout(timer);
            stop.abort();
        };
    }, [key]);

    return answer;
}
