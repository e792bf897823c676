import type { Batch } from './batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

const ADD = `insert into blob_calls (source, call_id, blob) values (?, ?, ?) on conflict do nothing`
const LIST = `select blob from blob_calls where source = ? and call_id = ?`

export function writeBlobCalls(db: Mirror, batch: Batch): void {
  for (const { blob, callId } of batch.blobCalls) prepared(db, ADD).run(batch.source, callId, blob)
}

/** The blobs that hold the output of this call, by their hashes. */
export const listBlobsOfCall = (db: Mirror, source: number, callId: string): string[] =>
  prepared<{ blob: string }>(db, LIST)
    .all(source, callId)
    .map(({ blob }) => blob)
