import { isPlaceholder } from './placeholder.ts'

/** A shape that a secret has, whatever stands around it. */
export interface SecretRule {
  /** What a person is told. */
  readonly kind: string
  /**
   * Global. Where it has a group `secret`, with which it ends, only that is masked. No part of it may be tried over and
   * over on one run of signs.
   */
  readonly shape: RegExp
  /** For what has the shape and may be something else. */
  readonly isSecret?: (secret: string) => boolean
}

const hasDigit = (text: string): boolean => /\d/.test(text)
const hasLetter = (text: string): boolean => /[a-z]/i.test(text)
/** `./keys/a1.pem`, `C:\keys\a1.pem`: where it lies is not what it is. */
const isPath = (text: string): boolean => /^(?:\.{1,2}\/|[a-z]:\\)[^:*?<>|]*$/i.test(text)
const isRandom = (text: string): boolean => hasDigit(text) && hasLetter(text) && !isPlaceholder(text) && !isPath(text)

const isCall = (text: string): boolean => /^[a-z_$][\w$.]*\(.*\)$/i.test(text)
const isBareSecret = (text: string): boolean => {
  const value = text.replace(/[,;]$/, '')
  return value.length >= 8 && isRandom(value) && !isCall(value)
}

/** Names of settings whose values are secrets. */
const NAMES =
  'secret(?:[_-]?key)?|token|passw(?:or)?d|passwd|passphrase|pwd|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth[_-]?key'
const secretName = new RegExp(`(?:${NAMES})s?$`, 'i')

/** Whether what stands under this key of an object is a secret, by its name and by what it looks like. */
export const isNamedSecret = (key: string, value: string): boolean =>
  secretName.test(key.slice(-100)) && /^\S{8,4096}$/.test(value) && isRandom(value)

/** JSON may escape a slash, and .NET writes a plus as an escape: where signs of a secret are named, so are these. */
export const rules: readonly SecretRule[] = [
  { kind: 'github-token', shape: /(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})/g },
  { kind: 'gitlab-token', shape: /(?<!\w)gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt|oas|ffct)-[\w-]{20,300}/g },
  { kind: 'slack-token', shape: /(?<!\w)(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,300}/g },
  {
    kind: 'slack-webhook',
    shape: /hooks\.slack\.com\\{0,4}\/(?:services|workflows|triggers)\\{0,4}\/(?:[\w/+-]|\\{1,4}\/){20,200}/g,
  },
  { kind: 'stripe-key', shape: /(?<!\w)(?:(?:sk|rk)_(?:live|test)_|whsec_)[A-Za-z0-9]{16,247}/g },
  { kind: 'aws-access-key', shape: /(?<!\w)(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?!\w)/g },
  { kind: 'google-key', shape: /(?<!\w)(?:AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,1000})/g },
  { kind: 'anthropic-key', shape: /(?<!\w)sk-ant-[\w-]{20,300}/g },
  {
    kind: 'openai-key',
    shape: /(?<!\w)sk-(?:(?:proj|svcacct|admin)-[\w-]{20,300}|[A-Za-z0-9]{40,60}(?!\w))/g,
    isSecret: hasDigit,
  },
  { kind: 'npm-token', shape: /(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)/g },
  { kind: 'pypi-token', shape: /(?<!\w)pypi-AgE[\w-]{50,1000}/g },
  { kind: 'sendgrid-key', shape: /(?<!\w)SG\.[\w-]{16,64}\.[\w-]{16,64}/g },
  { kind: 'twilio-key', shape: /(?<!\w)SK[0-9a-f]{32}(?!\w)/g },
  { kind: 'telegram-token', shape: /(?<![\w:])\d{8,10}:AA[\w-]{32,35}(?![\w-])/g },
  { kind: 'discord-token', shape: /(?<![\w-])[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g },
  { kind: 'huggingface-token', shape: /(?<!\w)hf_[A-Za-z0-9]{30,40}(?!\w)/g },
  { kind: 'digitalocean-token', shape: /(?<!\w)do[opr]_v1_[a-f0-9]{64}/g },
  { kind: 'shopify-token', shape: /(?<!\w)shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}/g },
  { kind: 'vault-token', shape: /(?<!\w)hv[sbr]\.[\w-]{24,300}/g },
  { kind: 'databricks-token', shape: /(?<!\w)dapi[a-f0-9]{32}(?:-\d)?(?!\w)/g },
  { kind: 'linear-key', shape: /(?<!\w)lin_(?:api|oauth)_[A-Za-z0-9]{32,64}/g },
  { kind: 'notion-token', shape: /(?<!\w)(?:ntn_|secret_)[A-Za-z0-9]{40,60}(?!\w)/g },
  { kind: 'age-key', shape: /AGE-SECRET-KEY-1[A-Z0-9]{58}/g },
  {
    kind: 'azure-key',
    shape: /(?:AccountKey|SharedAccessKey)=(?<secret>(?:[A-Za-z0-9+/]|\\{1,4}(?:\/|u002[bBfF])){40,100}={0,2})/g,
  },
  { kind: 'jwt', shape: /(?<![\w-])eyJ[\w-]{10,8192}\.eyJ[\w-]{10,8192}\.[\w-]{10,2048}/g },
  {
    kind: 'url-password',
    // As far as the last @ before the host; one in what is asked for, behind the host, is none. A name can be an address.
    shape:
      /(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}:(?:\\{0,4}\/){2}[^\s/:"'<>\\]{0,200}:(?<secret>(?:[^\s/@"'<>\\]|\\{1,4}u002[b6]){1,200}(?:@(?:(?!\?[\w.-]{1,40}=)(?:[^\s/@"'<>\\]|\\{1,4}u002[b6])){0,200}){0,20})(?=@)/gi,
    isSecret: (secret) => !isPlaceholder(secret),
  },
  {
    kind: 'authorization',
    shape: /(?<!\w)(?:Bearer|Basic)\s{1,4}(?<secret>(?:[A-Za-z0-9+/_.~=-]|\\{1,4}(?:\/|u002[bf])){20,4096})/gi,
    isSecret: hasDigit,
  },
  {
    kind: 'named-secret',
    // Quoted, or quoted within a quoted text: as far as the same quote, whatever other quotes and escapes stand before it.
    shape: new RegExp(
      String.raw`(?:${NAMES})s?\\{0,3}["'\x60]?\s{0,4}(?:=>|:=|[:=])\s{0,4}(?<quote>\\{0,3}["'\x60])(?<secret>(?:(?!\k<quote>)(?:\\{1,8}[^\s\\]|[^\s\\])){8,4096})(?=\\{0,3}["'\x60])`,
      'gi',
    ),
    isSecret: isRandom,
  },
  {
    kind: 'named-secret',
    // Bare, as in a file of settings.
    shape: new RegExp(
      String.raw`(?:${NAMES})s?\s{0,4}[:=]\s{0,4}(?<secret>[A-Za-z0-9+/_=~-]{16,4096}(?:[#@!%^*:$]{1,8}[A-Za-z0-9+/_=~-]{1,4096}){0,20})(?![\w(.\[])`,
      'gi',
    ),
    isSecret: (secret) => isRandom(secret) && secret.replace(/\D/g, '').length > 1,
  },
  {
    kind: 'named-secret',
    // Bare, under a name that can only be that of a variable: any sign belongs to the value, a quote too, if it goes on.
    // Before it can stand the number of its line, the name of its file, or the mark of what was added or taken away.
    shape: new RegExp(
      String.raw`(?<![^\s"'\x60|:+-])[A-Z0-9_]{0,80}(?:${NAMES.toUpperCase()})S?=(?<secret>[^\s"'\x60]{1,4096}(?:["'\x60](?![,;:)\]}]|\\+[nrt])[^\s"'\x60]{1,4096}){0,20})`,
      'g',
    ),
    isSecret: isBareSecret,
  },
  {
    kind: 'named-secret',
    // In XML, such as the settings of Maven or NuGet.
    shape: new RegExp(
      String.raw`<[\w.:-]{0,80}(?:${NAMES})s?(?:\s[^<>]{0,200})?>\s{0,40}(?<secret>[^<>\s]{8,4096})(?=\s{0,40}<\\{0,4}/)`,
      'gi',
    ),
    isSecret: isRandom,
  },
  {
    kind: 'user-password',
    // Told to curl. Others take a user and a group there, a time, or where something lies: git, rsync and pip.
    shape:
      /(?<![^\s"'`])(?:-u|--(?:proxy-)?user)[\s=]{1,4}\\{0,8}["'`]?(?!git@)[^\s:"'`\\\d][^\s:"'`\\]{0,200}:(?!\\{0,4}\/)(?<secret>[^\s"'`]{6,200})/g,
    isSecret: isRandom,
  },
  {
    kind: 'named-secret',
    // Between others: `Server=db;Password=…;Database=shop`.
    shape: /(?<![^\s;"'`])(?:password|pwd)\s?=\s?(?<secret>[^\s;"'`]{8,200})(?=;\s?[a-z][\w ]{1,40}=)/gi,
    isSecret: isBareSecret,
  },
]
