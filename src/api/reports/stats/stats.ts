import type { ChatId, ProjectId } from '../../../model/ids.ts'
import type { ProjectRef } from '../../../model/project.ts'
import type { BucketUnit } from '../../buckets.ts'

export interface StatsRequest {
  /** From `resolveProjects`; an empty list lets nothing through. Null: any. */
  readonly projectNums: readonly number[] | null
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
  readonly bucket: BucketUnit
  readonly timeZone: string
}

/** `too-many`: the series would have more buckets than anybody reads. */
export type StatsAnswer =
  | { readonly kind: 'stats'; readonly stats: Stats }
  | { readonly kind: 'too-many'; readonly count: number; readonly max: number }

/**
 * What was done, counted in messages of threads: no orphans, and nothing of drafts. Chats are counted as they are listed;
 * what a subagent said and did belongs to the work all the same. A number that is not known is null.
 */
export interface Stats {
  readonly bucket: BucketUnit
  readonly timeZone: string
  readonly from: string | null
  readonly to: string | null
  readonly totals: StatsTotals
  /** How many of the chats, subagents among them, say what the totals of the same name add up. */
  readonly known: {
    readonly chats: number
    readonly linesAdded: number
    readonly linesRemoved: number
    readonly filesChanged: number
  }
  /** Without any time: in the totals and not in what follows from a time; left out where `from` or `to` is given. */
  readonly undated: { readonly messages: number; readonly chats: number }
  /** Counted at the time of their neighbour, or of their chat: nothing tells their own. */
  readonly approximate: { readonly messages: number }
  /** Nobody counted these chats yet: the numbers are too low by them. */
  readonly uncounted: { readonly chats: number }
  readonly series: readonly SeriesRow[]
  /** Dated so far from all others that the series leaves them out, as it does where a year is wrong; in the totals. */
  readonly outOfSeries: { readonly messages: number }
  readonly byProject: readonly {
    readonly id: ProjectId | null
    readonly name: string | null
    readonly chats: number
    readonly messages: number
  }[]
  /** By what a message's own row says, which for most answers is nothing. */
  readonly byModel: readonly { readonly name: string | null; readonly chats: number; readonly messages: number }[]
  readonly byTool: readonly (CallCounts & { readonly name: string })[]
  readonly byMode: readonly { readonly name: string | null; readonly chats: number }[]
  readonly byHour: readonly number[]
  readonly byWeekday: readonly number[]
  readonly topFiles: readonly { readonly path: string; readonly reads: number; readonly edits: number }[]
  readonly calls: CallCounts & {
    /** Shares of the calls that ended; null where none did. */
    readonly successRate: number | null
    readonly errorRate: number | null
    readonly rejectionRate: number | null
  }
  readonly largestChats: readonly {
    readonly id: ChatId
    readonly title: string
    readonly project: ProjectRef | null
    readonly messages: number
    readonly sizeBytes: number
  }[]
  /** Messages of whole chats. */
  readonly chatLength: Distribution
  /** Milliseconds from the first to the last message that has a time of its own; chats with fewer than two are not in it. */
  readonly chatDuration: Distribution
  /** Days in a row with a message; the latest of the longest. */
  readonly longestStreak: { readonly days: number; readonly from: string; readonly to: string } | null
}

interface StatsTotals {
  readonly projects: number
  readonly chats: number
  readonly subagents: number
  readonly messages: number
  readonly userMessages: number
  readonly toolCalls: number
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
  readonly filesChanged: number | null
  readonly activeDays: number
}

export interface SeriesRow {
  /** The bucket's first local date. */
  readonly start: string
  readonly chats: number
  readonly messages: number
  readonly userMessages: number
  readonly toolCalls: number
}

export interface CallCounts {
  readonly calls: number
  readonly completed: number
  readonly errors: number
  readonly rejected: number
  readonly cancelled: number
  readonly running: number
}

/** How values lie. Of no values nothing is known. */
export interface Distribution {
  readonly count: number
  readonly min: number | null
  /** By nearest rank: a value that occurs. */
  readonly median: number | null
  readonly p90: number | null
  readonly max: number | null
  /** From `from` on and below `to`, which is null in the last. */
  readonly steps: readonly { readonly from: number; readonly to: number | null; readonly count: number }[]
}
