// Packs the Cursor of the demo and its agent's work into two files that the program opens.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { rolldown } from 'rolldown'

/** @param root of the checkout @param target the folder `dist/demo` */
export async function packDemo(root, target) {
  // Node 20 runs no TypeScript. The module is written beside its data, which it reads by a relative path.
  const packer = join(root, 'test', 'demo', `pack-${process.pid}.mjs`)
  const bundled = await rolldown({ input: join(root, 'test', 'demo', 'pack.ts'), platform: 'node', tsconfig: false })
  try {
    await bundled.write({ file: packer, format: 'esm' })
    const { demo } = await import(pathToFileURL(packer).href)
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 22 }
    for (const [name, part] of Object.entries(demo))
      writeFileSync(join(target, `${name}.json.br`), brotliCompressSync(JSON.stringify(part), { params }))
  } finally {
    await bundled.close()
    rmSync(packer, { force: true })
  }
}
