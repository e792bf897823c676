import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Planting {
  /** Path of a source file relative to `src`. */
  readonly file: string
  readonly replace: string
  readonly by: string
}

/** A copy of the program that is built with a planted fault, which a test must detect. */
export class FaultyBuild {
  readonly #folder = mkdtempSync(join(tmpdir(), 'cursordex-faulty-'))
  readonly bin = join(this.#folder, 'dist', 'cli', 'bin.js')

  /** @throws if the code to replace no longer exists */
  constructor(...plantings: readonly Planting[]) {
    // The build makes the demo with the writers of the tests.
    const writers = ['test/demo', 'test/helpers/cursor']
    const files = ['package.json', 'package-lock.json', 'tsconfig.json']
    for (const name of ['src', 'scripts', 'config', 'docs', ...writers, ...files]) {
      cpSync(join(root, name), join(this.#folder, name), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'))
    for (const { file, replace, by } of plantings) {
      const path = join(this.#folder, 'src', file)
      const text = readFileSync(path, 'utf8')
      if (!text.includes(replace)) throw new Error(`the fault cannot be planted: ${file} does not contain ${replace}`)
      writeFileSync(
        path,
        text.replace(replace, () => by),
      )
    }
    execFileSync(process.execPath, [join(this.#folder, 'scripts', 'build.mjs')], { stdio: 'inherit' })
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
