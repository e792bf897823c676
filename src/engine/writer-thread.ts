import { parentPort } from 'node:worker_threads'
import { serveWriter } from './writer/serve-writer.ts'

if (parentPort === null) throw new Error('this file runs as a worker')
serveWriter(parentPort)
