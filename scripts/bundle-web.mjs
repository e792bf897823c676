// Builds the page into dist/web with Vite and compresses each file once, so that the daemon never compresses. Returns the
// paths of all bundled modules.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
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
  const assets = join(outDir, 'assets')
  for (const name of readdirSync(assets)) {
    const bytes = readFileSync(join(assets, name))
    writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes, { params }))
  }
  return output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
}
