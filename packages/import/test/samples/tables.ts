// Tables of Chrome (from 111 on, with the note), Edge 120 and LastPass (2024). All values are invented.

/** Chrome writes line feeds and quotes only where it must; Edge the same. */
export const chrome = `name,url,username,password,note
shop.example,https://shop.example/login,ada,"pa""ss,word",
,https://noname.example/,bob,=1+1,"two
lines"
app,android://aGFzaA==@com.example.app/,eve,p,
`;

/** Before Chrome 111 there was no note. */
export const oldChrome = "name,url,username,password\r\nshop.example,https://shop.example/,ada,p\r\n";

/** LastPass writes secure notes under http://sn, and forms as lines in \`extra\`. */
export const lastpass = `url,username,password,totp,extra,name,grouping,fav
https://shop.example,ada,canary-password,JBSWY3DPEHPK3PXP,"two
lines: of note",Shop,Work\\Servers/eu,1
http://sn,,,,plain note,Note,,0
http://sn,,,,"NoteType:Credit Card
Language:en-US
Name on Card:Ada
Type:Visa
Number:4111111111111111
Security Code:123
Start Date:,
Expiration Date:March,2029
Notes:card notes
second: line",Card,Wallet,0
http://sn,,,,"NoteType:Address
Language:en-US
Title:mrs
First Name:Ada
Middle Name:
Last Name:L
Username:ada
Gender:f
Birthday:August,23,1990
Company:C
Address 1:1 Way
Address 2:
Address 3:
City / Town:York
County:
State:
Zip / Postal Code:YO1
Country:GB
Timezone:+01:00,1
Email Address:a@b.c
Phone:{""num"":""441"",""ext"":""11"",""cc3l"":""GBR""}
Evening Phone:
Mobile Phone:{""num"":""442"",""ext"":"""",""cc3l"":""GBR""}
Fax:
Notes:",Home,,0
http://sn,,,,"NoteType:SSH Key
Language:en-US
Bit Strength:2048
Format:PEM
Passphrase:pp
Private Key:-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED

AAAA
-----END RSA PRIVATE KEY-----
Public Key:ssh-rsa AAAA
Hostname:h
Date:
Notes:n",Key,,0
http://sn,,,,"NoteType:Database
Language:
Type:postgres
Hostname:db.example
Port:5432
Database:app
Username:u
Password:p
SID:
Alias:
Notes:",DB,,0
http://sn,,,,"NoteType:Bank Account
Language:en-US
Bank Name:B
Account Number:1
Pin:9
Notes:",Bank,,0
http://group,,,,,,Empty\\Folder,0
`;

/** An export in which every value is escaped as in HTML. */
export const escapedLastpass = `url,username,password,totp,extra,name,grouping,fav
https://a.example/?a=1&amp;b=2,ada,p&lt;q&amp;amp;&quot;&#39;,,,A,,0
`;

/** An export with a password that only looks escaped. */
export const unescapedLastpass = `url,username,password,totp,extra,name,grouping,fav
https://a.example/?a=1&b=2,ada,p&lt;q,,,A,,0
`;
