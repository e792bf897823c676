// Builds the page into dist/web with Vite. Returns the paths of all bundled modules.
import { build } from 'vite'

export async function bundleWeb(root, outDir) {
  const { output } = await build({
    root,
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    base: '/',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      // With light-dark(): what takes its place for older browsers follows the system, and not the chosen theme.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      // Inline scripts and data: scripts are against the content policy.
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  })
  return output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
}
