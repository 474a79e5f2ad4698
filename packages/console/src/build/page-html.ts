interface Linked {
  path: string;
  integrity: string;
}

/** The one document of the console. It has no inline script and no inline style. */
export function pageHtml({ script, style, icon }: { script: Linked; style: Linked; icon: Linked }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Coffer</title>
<link rel="icon" href="${icon.path}" type="image/svg+xml">
<link rel="stylesheet" href="${style.path}" integrity="${style.integrity}">
<script type="module" src="${script.path}" integrity="${script.integrity}"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console decrypts in this browser, so it needs JavaScript. The command <code>coffer</code> does not.</noscript>
</body>
</html>
`;
}
