import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

// What may be wider than the page scrolls by itself; while it does, it can be reached and scrolled by key.
export function Scroll(props: { class?: string; label?: string; children: ComponentChildren }) {
    const box = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const own = box.current;
        if (own === null) return;
        const look = () => {
            if (own.scrollWidth > own.clientWidth) own.tabIndex = 0;
            else own.removeAttribute('tabindex');
        };
        const watch = new ResizeObserver(look);
        watch.observe(own);
        if (own.firstElementChild) watch.observe(own.firstElementChild);
        look();
        return () => watch.disconnect();
    });
    return (
        <div
            class={`scroll ${props.class ?? ''}`}
            ref={box}
            role={props.label ? 'group' : undefined}
            aria-label={props.label}
        >
            {props.children}
        </div>
    );
}
