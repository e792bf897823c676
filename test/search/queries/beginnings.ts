import { answer, code, type Scene } from '../corpus/planted.ts'

/** The beginning of a word. */
export const beginnings: readonly Scene[] = [
  {
    docs: {
      one: 'The thermohygrograph needs a new calibration.',
      two: answer('thermohygrometry is not what the sensor was made for.'),
      near: 'The thermograph is fine.',
    },
    asks: [
      { q: 'thermohygro*', want: 'one two', never: 'near' },
      { q: 'thermohygro* sensor', want: 'two', never: 'one near' },
    ],
  },
  {
    docs: {
      camel: 'useReconcileSettlements is called on mount.',
      snake: code('py', 'jobs/settle.py', 'def reconcile_settlement_batch(day): ...'),
      near: 'reconcileSets is something else.',
    },
    asks: [
      { q: 'reconcileSettl*', want: 'camel snake', never: 'near' },
      { q: 'reconcile_settl*', want: 'camel snake', never: 'near' },
    ],
  },
  {
    docs: {
      german: 'Die Mehrwertsteuerberechnung rundet falsch.',
      other: answer('Der Mehrwertsteuersatz steht in der Tabelle.'),
      near: 'Der Mehrwert ist gering.',
    },
    asks: [
      { q: 'mehrwertsteuer*', want: 'german other', never: 'near' },
      { q: 'Mehrwertsteuerb*', want: 'german', never: 'other near' },
    ],
  },
  {
    docs: {
      one: 'カレンダー同期が遅い。',
      two: answer('カレンダの表示を直しました。'),
      near: 'カレーの画像が出る。',
    },
    asks: [
      { q: 'カレン*', want: 'one two', never: 'near' },
      { q: 'カレンダー同*', want: 'one', never: 'two near' },
    ],
  },
  {
    docs: {
      phrase: 'The grant window opens on Monday.',
      plural: answer('Grant windows overlap in May.'),
      near: 'The grant for the windmill was refused.',
    },
    asks: [
      { q: '"grant window"*', want: 'phrase plural', never: 'near' },
      { q: 'grant windo*', want: 'phrase plural', never: 'near' },
    ],
  },
  {
    docs: {
      one: 'zk2proof-v14 fails on the second witness.',
      two: answer('zk2proof-v15 is out and fixes the witness.'),
      near: 'zk3proof-v14 is a fork.',
    },
    asks: [
      { q: 'zk2*', want: 'one two', never: 'near' },
      { q: 'zk2proof-v1*', want: 'one two', never: 'near' },
    ],
  },
]
