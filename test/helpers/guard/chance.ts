import { Chance } from '../cursor.ts'

/** Pseudo-random numbers from 0 (included) to 1 (excluded), the same for the same seed. */
export function chanceOf(seed: number): () => number {
  const chance = new Chance(`seed ${seed}`)
  return () => chance.next()
}

export function garbage(chance: () => number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(Math.floor(chance() * 2 ** 32), at)
  return bytes
}
