import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["**/node_modules/", "**/dist/", ".coffer/", ".tap/", "bench/"] },
  js.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // Leaving fields out by taking them apart is how a view is made from a row.
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      // Objects here are made of closures: none of their functions uses `this`.
      "@typescript-eslint/unbound-method": "off",
      "no-restricted-syntax": [
        "error",
        { selector: "ExportDefaultDeclaration", message: "Name what you export." },
        { selector: "ExportAllDeclaration", message: "Name what you export." },
        { selector: "TSEnumDeclaration", message: "Use a union of strings." },
      ],
    },
  },
  {
    // One function decides to whom a key is sealed.
    files: ["packages/*/src/**/*.{ts,tsx}", "services/*/src/**/*.ts"],
    ignores: ["packages/crypto/**", "packages/sdk/src/histories/confirmed-key.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          paths: [{ name: "@coffer/crypto", importNames: ["seal"], message: "Seal with `sealToHolder` of the SDK." }],
        },
      ],
    },
  },
  {
    files: ["**/*.mjs", "eslint.config.js"],
    languageOptions: { globals: { process: "readonly", console: "readonly", URL: "readonly" } },
  },
);
