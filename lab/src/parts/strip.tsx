import { useEffect, useRef } from 'preact/hooks';
import { useLab } from '../lab';

function channels(name: string): [number, number, number] {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)) as [number, number, number];
}

// A vector as a strip of cells, orange below zero and blue above. A canvas: a sentence has some ten thousand cells.
export function Strip(props: { values: number[]; scale: number; label: string }) {
    const { theme } = useLab();
    const canvas = useRef<HTMLCanvasElement>(null);
    const { values, scale } = props;
    useEffect(() => {
        const context = canvas.current?.getContext('2d');
        if (!context) return;
        const positive = channels('--positive');
        const negative = channels('--negative');
        const image = context.createImageData(values.length, 1);
        values.forEach((v, i) => {
            const colour = v < 0 ? negative : positive;
            image.data.set([...colour, Math.round(255 * Math.min(1, Math.abs(v) / scale))], 4 * i);
        });
        context.putImageData(image, 0, 0);
    }, [values, scale, theme]);
    return (
        <canvas class="strip" ref={canvas} width={values.length} height={1} role="img" aria-label={props.label} />
    );
}
