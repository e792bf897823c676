import { answer, bare, type Scene } from '../corpus/planted.ts'

/** Excluding a word, a phrase or a field. */
export const exclusions: readonly Scene[] = [
  {
    docs: {
      staging: 'The heron exporter leaks sockets on staging.',
      production: 'The heron exporter leaks sockets on production.',
      none: answer('The heron exporter leaks sockets when a scrape is cut off.'),
    },
    asks: [
      { q: 'heron exporter -staging', want: 'production none', never: 'staging' },
      { q: 'heron exporter -staging -production', want: 'none', never: 'staging production' },
    ],
  },
  {
    docs: {
      phrase: bare('osprey retries: exponential backoff with jitter'),
      apart: bare('osprey retries: the backoff is not exponential at all'),
      none: bare('osprey retries: five times, then it gives up'),
    },
    asks: [
      { q: 'osprey retries -"exponential backoff"', want: 'apart none', never: 'phrase' },
      { q: 'osprey retries -backoff', want: 'none', never: 'phrase apart' },
    ],
  },
  {
    docs: {
      id: 'pelicanQueueSize grows without end.',
      snake: answer('pelican_queue_size is the gauge of it.'),
      max: 'pelicanQueueSizeMax is 4096.',
    },
    asks: [
      { q: 'pelicanQueueSize -max', want: 'id snake', never: 'max' },
      { q: 'pelican_queue_size -pelicanQueueSizeMax', want: 'id snake', never: 'max' },
    ],
  },
  {
    docs: {
      long: bare('cormorant --verbose prints every frame'),
      flag: bare('cormorant -v prints every second frame'),
      none: bare('cormorant prints nothing by itself'),
    },
    asks: [
      { q: 'cormorant prints -v', want: 'long none', never: 'flag' },
      { q: 'cormorant -frame', want: 'none', never: 'long flag' },
    ],
  },
  {
    docs: {
      chinese: '鹈鹕服务在测试环境超时。',
      other: '鹈鹕服务在生产环境超时。',
      none: answer('鹈鹕服务超时是因为没有重试。'),
    },
    asks: [
      { q: '鹈鹕 -测试', want: 'other none', never: 'chinese' },
      { q: '鹈鹕 -环境', want: 'none', never: 'chinese other' },
    ],
  },
  {
    docs: {
      user: { text: 'Can gannet batches be split?', project: 'ledger' },
      reply: answer('gannet batches can be split by day.', { project: 'ledger' }),
      elsewhere: { text: 'gannet batches again, elsewhere.', project: 'infra' },
    },
    asks: [
      { q: 'gannet batches -project:infra', want: 'user reply', never: 'elsewhere' },
      { q: 'gannet batches -role:assistant', want: 'user elsewhere', never: 'reply' },
    ],
  },
]
