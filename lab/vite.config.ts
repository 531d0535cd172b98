import { defineConfig } from 'vite';

// `npm run dev` shows the page on a server that runs elsewhere: LAB_API=http://127.0.0.1:5000 npm run dev
const api = process.env.LAB_API ?? 'http://127.0.0.1:5000';

export default defineConfig({
    base: './',
    esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
    // Nothing may be inlined as data: the page's security policy lets scripts and styles come from the server only.
    build: {
        target: 'es2021',
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        reportCompressedSize: false,
    },
    server: { proxy: { '/v1': api, '/health': api } },
});
