import type { Half, Kind } from '../queries/index.ts'

type Floor = readonly [recallAt10: number, reciprocalRank: number]

/** What holds today, rounded down. Nobody makes it worse; who makes it better raises it. */
export const floors: Readonly<Record<Half, Readonly<Record<Kind | 'all', Floor>>>> = {
  tuning: {
    identifiers: [1, 1],
    capitals: [1, 1],
    cjk: [1, 1],
    thai: [1, 1],
    korean: [1, 1],
    accents: [1, 1],
    errors: [1, 1],
    paths: [1, 1],
    hashes: [1, 1],
    words: [1, 1],
    ranking: [1, 1],
    phrases: [1, 1],
    exclusions: [1, 1],
    alternatives: [1, 1],
    beginnings: [1, 1],
    insides: [1, 1],
    typos: [1, 1],
    titles: [1, 1],
    tools: [1, 1],
    filters: [1, 1],
    dates: [1, 1],
    memories: [1, 1],
    all: [1, 1],
  },
  'held-back': {
    identifiers: [1, 1],
    capitals: [1, 1],
    cjk: [1, 1],
    thai: [1, 1],
    korean: [1, 1],
    accents: [1, 1],
    errors: [1, 1],
    paths: [1, 1],
    hashes: [1, 1],
    words: [1, 1],
    ranking: [1, 1],
    phrases: [1, 1],
    exclusions: [1, 1],
    alternatives: [1, 1],
    beginnings: [1, 1],
    insides: [1, 1],
    typos: [1, 1],
    titles: [1, 1],
    tools: [1, 1],
    filters: [1, 1],
    dates: [1, 1],
    memories: [1, 1],
    all: [1, 1],
  },
}

/** Kinds whose answers hold what does not match. */
export const wrongToday: readonly Kind[] = []
