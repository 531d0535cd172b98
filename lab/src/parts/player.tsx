import { useEffect, useState } from 'preact/hooks';
import { useLab } from '../lab';

export interface PlayerState {
    at: number;
    of: number;
    playing: boolean;
    go: (at: number) => void;
    toggle: () => void;
}

// A place among `of` that moves on by itself while it plays.
export function usePlayer(of: number, pause: number): PlayerState {
    const [at, setAt] = useState(0);
    const [playing, setPlaying] = useState(false);
    useEffect(() => {
        if (!playing) return;
        if (at >= of - 1) {
            setPlaying(false);
            return;
        }
        const timer = setTimeout(() => setAt(at + 1), pause);
        return () => clearTimeout(timer);
    }, [playing, at, of]);
    return {
        at: Math.max(0, Math.min(at, of - 1)),
        of,
        playing,
        go: (next) => {
            setPlaying(false);
            setAt(Math.max(0, Math.min(next, of - 1)));
        },
        toggle: () => {
            if (!playing && at >= of - 1) setAt(0);
            setPlaying(!playing);
        },
    };
}

export function Player(props: { player: PlayerState; caption?: string }) {
    const { player } = props;
    const { words } = useLab();
    return (
        <div class="player" role="group" aria-label={words.play}>
            <button
                type="button"
                aria-label={words.stepBack}
                disabled={player.at === 0}
                onClick={() => player.go(player.at - 1)}
            >
                <span class="icon back" aria-hidden="true" />
            </button>
            <button
                type="button"
                class="main"
                aria-label={player.playing ? words.pause : words.play}
                onClick={player.toggle}
            >
                <span class={player.playing ? 'icon pause' : 'icon play'} aria-hidden="true" />
            </button>
            <button
                type="button"
                aria-label={words.stepOn}
                disabled={player.at === player.of - 1}
                onClick={() => player.go(player.at + 1)}
            >
                <span class="icon on" aria-hidden="true" />
            </button>
            <input
                type="range"
                min={0}
                max={player.of - 1}
                value={player.at}
                aria-label={words.of(player.at + 1, player.of)}
                onInput={(e) => player.go(Number(e.currentTarget.value))}
            />
            <span class="number" dir="auto">
                {words.of(player.at + 1, player.of)}
            </span>
            {props.caption && (
                <span class="caption" dir="auto" aria-live="polite">
                    {props.caption}
                </span>
            )}
        </div>
    );
}
