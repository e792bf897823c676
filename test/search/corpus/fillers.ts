import type { Chance } from '../../../src/sample/chance.ts'

export type Tongue = 'en' | 'de' | 'zh' | 'ja' | 'ko' | 'th'

type Words = readonly [string, ...string[]]

interface Grammar {
  readonly things: Words
  readonly acts: Words
  readonly frames: readonly [Frame, ...Frame[]]
}

type Frame = (thing: string, act: string, other: string) => string

/** Sentences about everyday work, with common words of many questions, so that a single rare word is not enough. */
const grammars: Readonly<Record<Tongue, Grammar>> = {
  en: {
    things: [
      'the cache',
      'the login page',
      'the parser',
      'the worker',
      'the release script',
      'the user table',
      'the name field',
      'the retry loop',
      'the search index',
      'the build',
      'the connection pool',
      'the server',
      'the config file',
      'the type checker',
      'the invoice',
      'the total',
      'the queue',
      'the migration',
      'the deploy hook',
      'the date picker',
      'the color of the button',
      'the error page',
      'the browser test',
      'the line chart',
      'the payment list',
      'the path of the image',
      'the timeout',
      'the theme',
      'the token',
      'the batch job',
      'the exporter',
      'the event stream',
      'the header of the response',
      'the import',
      'the sensor',
      'the label',
      'the window',
      'the feature flag',
    ],
    acts: [
      'is slow',
      'returns an empty list',
      'was moved to another file',
      'has no tests',
      'needs a second look',
      'throws once a day',
      'is called twice',
      'does not match the docs',
      'was renamed in the last release',
      'is read from the environment',
      'should be typed',
      'waits for a lock',
      'leaks memory',
      'is cached for an hour',
      'prints a warning',
      'fails on Windows',
      'works on my machine',
      'ignores the order',
      'drops the first line',
      'rounds the amount',
      'cannot be undefined',
      'gets the wrong user',
      'is sorted by name',
    ],
    frames: [
      (thing, act, other) => `Why is it that ${thing} ${act} when ${other} changes?`,
      (thing, act) => `I think ${thing} ${act}.`,
      (thing, act, other) => `After the update ${thing} ${act}, and so does ${other}.`,
      (thing, act) => `Please check whether ${thing} ${act}.`,
      (thing, act, other) => `If ${thing} ${act}, look at ${other} first.`,
      (thing, _, other) => `Move ${thing} next to ${other} and run the tests.`,
    ],
  },
  de: {
    things: [
      'der Bericht',
      'die Rechnung',
      'das Formular',
      'der Dienst',
      'die Tabelle',
      'der Betrag',
      'die Anmeldung',
      'das Protokoll',
      'der Kunde',
      'die Schnittstelle',
      'die Prüfung',
      'der Export',
    ],
    acts: [
      'ist zu langsam',
      'fehlt im Menü',
      'wird doppelt gespeichert',
      'läuft nachts',
      'braucht einen Test',
      'ist umbenannt',
      'zeigt die falsche Größe',
      'wurde gelöscht',
      'kommt zu früh',
    ],
    frames: [
      (thing, act) => `Ich glaube, ${thing} ${act}.`,
      (thing, act, other) => `Seit gestern gilt: ${thing} ${act}, und ${other} auch.`,
      (thing, act) => `Bitte prüfe das: ${thing} ${act}.`,
    ],
  },
  zh: {
    things: [
      '页面',
      '接口',
      '订单列表',
      '测试用例',
      '日志文件',
      '按钮',
      '配置',
      '脚本',
      '消息队列',
      '图片',
      '权限',
      '报表',
      '用户名',
    ],
    acts: [
      '加载太慢',
      '返回空值',
      '需要重构',
      '没有更新',
      '报错了',
      '显示不正确',
      '被调用两次',
      '已经改名',
      '不支持中文',
      '少了一行',
    ],
    frames: [
      (thing, act) => `为什么${thing}${act}?`,
      (thing, act, other) => `升级以后${thing}${act},${other}也一样。`,
      (thing, act) => `请看一下,${thing}${act}。`,
    ],
  },
  ja: {
    things: [
      '画面',
      'ボタン',
      'テスト',
      'ログ',
      '設定ファイル',
      'メニュー',
      'サーバー',
      '一覧',
      '検索結果',
      '通知',
      'メール',
    ],
    acts: [
      'が遅い',
      'が表示されない',
      'を直しました',
      'が二回呼ばれる',
      'を確認してください',
      'の名前を変えたい',
      'が空になる',
      'を追加した',
    ],
    frames: [
      (thing, act) => `${thing}${act}。`,
      (thing, act, other) => `更新してから${thing}${act}、${other}も同じです。`,
      (thing, act) => `なぜ${thing}${act}のか教えて。`,
    ],
  },
  ko: {
    things: ['화면이', '버튼이', '테스트가', '로그가', '목록이', '설정이', '서버가', '알림이', '메뉴가', '이미지가'],
    acts: ['느립니다', '보이지 않아요', '두 번 호출돼요', '비어 있습니다', '깨졌어요', '바뀌었습니다', '필요합니다'],
    frames: [
      (thing, act) => `${thing} ${act}.`,
      (thing, act, other) => `업데이트 후에 ${thing} ${act}. ${other} 그대로예요.`,
      (thing, act) => `왜 ${thing} ${act}?`,
    ],
  },
  th: {
    things: ['หน้าจอ', 'ปุ่ม', 'รายการสินค้า', 'การทดสอบ', 'ไฟล์ตั้งค่า', 'เซิร์ฟเวอร์', 'เมนู', 'การแจ้งเตือน'],
    acts: ['ทำงานช้า', 'ไม่แสดง', 'ถูกเรียกสองครั้ง', 'ว่างเปล่า', 'ต้องแก้ไข', 'เปลี่ยนชื่อแล้ว'],
    frames: [
      (thing, act) => `${thing}${act}`,
      (thing, act, other) => `หลังจากอัปเดต${thing}${act}และ${other}ด้วย`,
      (thing, act) => `ช่วยดูว่า${thing}${act}หรือไม่`,
    ],
  },
}

export function sentence(chance: Chance, tongue: Tongue): string {
  const { things, acts, frames } = grammars[tongue]
  return chance.pick(frames)(chance.pick(things), chance.pick(acts), chance.pick(things))
}

export function sentences(chance: Chance, tongue: Tongue, count: number): string {
  return Array.from({ length: count }, () => sentence(chance, tongue)).join(' ')
}

/** A title: a thing and a problem. */
export function heading(chance: Chance, tongue: Tongue): string {
  const { things, acts } = grammars[tongue]
  const space = tongue === 'en' || tongue === 'de' || tongue === 'ko' ? ' ' : ''
  const name = `${chance.pick(things)}${space}${chance.pick(acts)}`
  return name.charAt(0).toUpperCase() + name.slice(1)
}

export function tongueOf(text: string): Tongue {
  if (/\p{Script=Thai}/u.test(text)) return 'th'
  if (/\p{Script=Hangul}/u.test(text)) return 'ko'
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
  if (/\p{Script=Han}/u.test(text)) return 'zh'
  return /[äöüßÄÖÜ]|\b(der|die|das|ist|und)\b/.test(text) ? 'de' : 'en'
}
