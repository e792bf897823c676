/** The name of an object is the SHA-256 of its file, so that `sha256sum` can check it. */
export const isObjectHash = (given: string): boolean => /^[0-9a-f]{64}$/.test(given)

/** The path of an object below the archive folder: `objects/ab/abcd….jsonl.gz`. */
export const objectPath = (hash: string): string => `objects/${hash.slice(0, 2)}/${hash}.jsonl.gz`

/** `20261121T030000Z-weekly`, with `-2` added for a second run in the same second. Names are used in paths. */
export const isRunName = (given: string): boolean => /^\d{8}T\d{6}Z-[A-Za-z0-9_-]{1,80}$/.test(given)

export const runPath = (name: string): string => `runs/${name}.json`

/** @param atMs epoch milliseconds  @param taken names in use */
export function runName(atMs: number, job: string, taken: ReadonlySet<string>): string {
  const stamp = new Date(atMs).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '')
  return freeName(`${stamp}-${job}`, (name) => taken.has(name))
}

/** The name itself if it is free, otherwise with the lowest free number added. */
export function freeName(first: string, isTaken: (name: string) => boolean): string {
  for (let number = 2, name = first; ; number += 1) {
    if (!isTaken(name)) return name
    name = `${first}-${number}`
  }
}
