// A drawing of the page as a file of its own: what the style sheet says is written into the elements.
const carried = [
    'fill',
    'fill-opacity',
    'stroke',
    'stroke-width',
    'stroke-dasharray',
    'font-family',
    'font-size',
    'font-weight',
    'text-anchor',
];

function standalone(svg: SVGSVGElement): SVGSVGElement {
    const copy = svg.cloneNode(true) as SVGSVGElement;
    const from = [svg, ...svg.querySelectorAll<SVGElement>('*')];
    const to = [copy, ...copy.querySelectorAll<SVGElement>('*')];
    from.forEach((element, i) => {
        const style = getComputedStyle(element);
        for (const name of carried) {
            const value = style.getPropertyValue(name);
            if (value !== '') to[i].setAttribute(name, value);
        }
        for (const name of ['class', 'tabindex', 'role', 'aria-label', 'data-cell']) to[i].removeAttribute(name);
    });
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    ground.setAttribute('width', '100%');
    ground.setAttribute('height', '100%');
    ground.setAttribute('fill', getComputedStyle(document.body).backgroundColor);
    copy.prepend(ground);
    return copy;
}

export function toSvg(svg: SVGSVGElement): Blob {
    return new Blob([new XMLSerializer().serializeToString(standalone(svg))], { type: 'image/svg+xml' });
}

export async function toPng(svg: SVGSVGElement): Promise<Blob> {
    const url = URL.createObjectURL(toSvg(svg));
    try {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = document.createElement('canvas');
        const scale = 2;
        canvas.width = svg.viewBox.baseVal.width * scale;
        canvas.height = svg.viewBox.baseVal.height * scale;
        canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
        return await new Promise((resolve, reject) => {
            canvas.toBlob((blob) => (blob === null ? reject(new Error('PNG')) : resolve(blob)));
        });
    } finally {
        URL.revokeObjectURL(url);
    }
}

export function save(name: string, blob: Blob): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
