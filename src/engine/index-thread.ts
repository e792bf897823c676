import { parentPort, workerData } from 'node:worker_threads'
import { serveIndex } from './writer/serve-index.ts'

if (parentPort === null) throw new Error('this file runs as a worker')
serveIndex(parentPort, String(workerData))
