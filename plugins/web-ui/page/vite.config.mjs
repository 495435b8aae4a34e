// How the page is bundled; bin/web-page.mjs runs it.
import { messages } from './build/messages.mjs';
import { fewerLocales } from './build/fewer-locales.mjs';

export default {
  // Relative: the page does not know below which path it is served.
  base: './',
  publicDir: false,
  plugins: [messages(), fewerLocales()],
  build: {
    target: ['es2022', 'chrome116', 'firefox124', 'safari17.4'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        // Letters and digits only. Names with such a digest are stored for a year (see page-folder.ts).
        hashCharacters: 'base36',
        chunkFileNames: ({ facadeModuleId }) =>
          facadeModuleId?.endsWith('?later') ? 'assets/later-[name]-[hash].js' : 'assets/[name]-[hash].js',
      },
      // Packages mark their modules for frameworks that render on a server.
      onLog: (level, log, handle) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && handle(level, log),
    },
  },
};
