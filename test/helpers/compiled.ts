import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const bundler = new URL('../../scripts/bundle.mjs', import.meta.url).href

interface Bundler {
  readonly bundle: (source: string, target: string, more: readonly string[]) => Promise<void>
  readonly outputName: (name: string) => string
}

/** A module of src as plain JavaScript, with the bundled programs beside it, for tests in separate processes. */
export class Compiled {
  readonly url: string
  readonly #folder: string

  private constructor(folder: string, name: string) {
    this.#folder = folder
    this.url = pathToFileURL(join(folder, 'dist', `${name}.js`)).href
  }

  /** @param name path relative to `src`, without `.ts` */
  static async module(name: string): Promise<Compiled> {
    const folder = mkdtempSync(join(tmpdir(), 'cursordex-compiled-'))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const { bundle, outputName } = (await import(bundler)) as Bundler
    await bundle(join(root, 'src'), join(folder, 'dist'), [name])
    return new Compiled(folder, outputName(name))
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
