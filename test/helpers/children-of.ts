import { readdirSync, readFileSync } from 'node:fs'

/** The child processes of a process, with their priorities. */
export function childrenOf(pid: number): { readonly pid: number; readonly nice: number; readonly command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return Number(fields[1]) === pid ? [{ pid: Number(name), nice: Number(fields[16]), command }] : []
    } catch {
      // The process ended meanwhile.
      return []
    }
  })
}
