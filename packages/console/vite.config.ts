import { join } from 'node:path'
import tailwind from '@tailwindcss/vite'
import { defineConfig } from 'vite'

const here = import.meta.dirname

export default defineConfig({
  root: here,
  plugins: [tailwind()],
  resolve: {
    alias: {
      // Radix locks scrolling by writing a style sheet into the page, which our policy forbids; a class does the same.
      'react-remove-scroll': join(here, 'src/ui/scroll-lock.tsx'),
    },
  },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    // Everything is a file of its own: the policy knows no data: address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npm run dev -w packages/console` beside a running server.
  server: { proxy: { '/api': 'http://127.0.0.1:8420', '/docs': 'http://127.0.0.1:8420' } },
})
