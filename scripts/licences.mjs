// The licences of the packages that are bundled into dist/, as one file. Most of them ask for that.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the package that a bundled module belongs to, or null. */
const folderOf = (moduleId) =>
  /^(?:.*\/node_modules\/)(?:@[^/]+\/)?[^/]+/.exec(moduleId.replaceAll('\\', '/'))?.[0] ?? null

/** @param moduleIds paths of all bundled modules */
export function licencesOf(moduleIds) {
  const folders = new Set([...moduleIds].map(folderOf).filter((folder) => folder !== null && existsSync(folder)))
  const packages = [...folders].map((folder) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)(\.|-|$)/i.test(each))
    const by = typeof author === 'string' ? author : (author?.name ?? '')
    const text =
      file === undefined ? `${license}${by === '' ? '' : `, ${by}`}` : readFileSync(join(folder, file), 'utf8')
    return { title: `${name} ${version} (${license})`, text: text.trim() }
  })
  const sorted = packages.sort((one, other) => (one.title < other.title ? -1 : 1))
  const line = '-'.repeat(80)
  return `cursordex contains these packages.\n\n${sorted.map(({ title, text }) => `${line}\n${title}\n${line}\n\n${text}\n`).join('\n')}`
}
