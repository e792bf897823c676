import type { ChatId, ProjectId } from '../../../model/ids.ts'
import type { ProjectRef } from '../../../model/project.ts'
import type { BucketUnit } from '../../buckets.ts'

export interface StatsRequest {
  /** From `resolveProjects`. An empty list matches nothing; null matches everything. */
  readonly projectNums: readonly number[] | null
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
  readonly bucket: BucketUnit
  readonly timeZone: string
}

/** `too-many`: the series would have more than `max` buckets. */
export type StatsAnswer =
  | { readonly kind: 'stats'; readonly stats: Stats }
  | { readonly kind: 'too-many'; readonly count: number; readonly max: number }

/**
 * Statistics over messages of threads, without orphans and drafts. Chats are counted as they are listed. Messages and
 * calls of subagents count too. An unknown number is null.
 */
export interface Stats {
  readonly bucket: BucketUnit
  readonly timeZone: string
  readonly from: string | null
  readonly to: string | null
  readonly totals: StatsTotals
  /** How many chats, including subagents, have a value for the total of the same name. */
  readonly known: {
    readonly chats: number
    readonly linesAdded: number
    readonly linesRemoved: number
    readonly filesChanged: number
  }
  /** Without any time. They are in no number by time, and only in the totals if neither `from` nor `to` is given. */
  readonly undated: { readonly messages: number; readonly chats: number }
  /** Messages without their own time, counted at the time of a neighbour or of their chat. */
  readonly approximate: { readonly messages: number }
  /** Chats that are not counted yet. The other numbers lack them. */
  readonly uncounted: { readonly chats: number }
  readonly series: readonly SeriesRow[]
  /** Messages so far from the others that the series leaves them out, for example because of a wrong year. The totals have them. */
  readonly outOfSeries: { readonly messages: number }
  readonly byProject: readonly {
    readonly id: ProjectId | null
    readonly name: string | null
    readonly chats: number
    readonly messages: number
  }[]
  /** By the model in a message's own row. Most answers have none. */
  readonly byModel: readonly { readonly name: string | null; readonly chats: number; readonly messages: number }[]
  readonly byTool: readonly (CallCounts & { readonly name: string })[]
  readonly byMode: readonly { readonly name: string | null; readonly chats: number }[]
  readonly byHour: readonly number[]
  readonly byWeekday: readonly number[]
  readonly topFiles: readonly { readonly path: string; readonly reads: number; readonly edits: number }[]
  readonly calls: CallCounts & {
    /** Shares of the finished calls; null if there are none. */
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
  /** Messages per chat, of whole chats. */
  readonly chatLength: Distribution
  /** Milliseconds from the first to the last message with its own time. Chats with fewer than two such messages are left out. */
  readonly chatDuration: Distribution
  /** The longest run of days with messages; of equal ones the latest. */
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

/** The distribution of values. All figures are null without values. */
export interface Distribution {
  readonly count: number
  readonly min: number | null
  /** By nearest rank, so it is one of the values. */
  readonly median: number | null
  readonly p90: number | null
  readonly max: number | null
  /** `from` is inclusive, `to` is exclusive and null in the last step. */
  readonly steps: readonly { readonly from: number; readonly to: number | null; readonly count: number }[]
}
